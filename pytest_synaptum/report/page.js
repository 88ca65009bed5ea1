
"use strict";
(() => {
  // Everything below writes texts, never markup: what a model said stays words.
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  };
  const drawing = (name, attributes, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  const seconds = (value) => (value < 0.0005 ? "0 s" : value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`);
  const tokens = (value) => (value === null || value === undefined ? "not measured" : value.toLocaleString("en"));
  // A long text in a box that scrolls; the box takes the keyboard, so that all of it can be read.
  const box = (text, label) => element("pre", { tabindex: "0", role: "region", "aria-label": label }, text);
  const section = (title, ...children) => element("section", { "aria-label": title }, element("h2", {}, title), ...children);
  // Content that is made when it is first looked at.
  const lazily = (details, fill) => {
    details.addEventListener("toggle", () => { if (details.open && !details.dataset.filled) { details.dataset.filled = "yes"; fill(details); } });
    return details;
  };

  const failureSection = (test) => (test.failure ? section(test.outcome === "skipped" ? "Reason" : "Failure", box(test.failure, "Failure text")) : null);

  // Exchanges

  const body = (title, side) => {
    const column = element("div", {}, element("p", { class: "label" }, title));
    if (side === null) column.append(element("p", {}, "no answer came"));
    else {
      for (const [name, value] of side.headers || []) column.append(element("p", { class: "label" }, element("code", {}, `${name}: ${value}`)));
      column.append(side.text ? box(side.text, title) : element("p", { class: "quiet" }, "no body"));
    }
    return column;
  };
  const sizes = (answer) => (answer && answer.bytes !== undefined
    ? ` · ${answer.bytes.toLocaleString("en")} bytes in ${count(answer.chunks, "piece")} · ${seconds(answer.took_s)}` : "");
  const exchange = (one, number) => lazily(
    element("details", {}, element("summary", {},
      element("span", { class: one.failed || one.response === null ? "bad" : null }, `${number + 1}. ${one.state ? one.state + " " : ""}${one.about}`),
      element("span", { class: "quiet" }, sizes(one.response)))),
    (details) => details.append(element("div", { class: "bodies" }, body("Request", one.request), body("Answer", one.response))));
  const exchangesSection = (title, list, unused = []) => (list.length || unused.length ? section(title, ...list.map(exchange),
    unused.length ? element("p", { class: "warn" }, `Recorded, and not asked for: ${unused.join("; ")}`) : null) : null);

  // Runs

  const step = (one) => {
    const notes = [...(one.notes || [])];
    if (one.tokens && (one.tokens.input !== null || one.tokens.output !== null)) notes.push(`${tokens(one.tokens.input)} in, ${tokens(one.tokens.output)} out`);
    if (one.open) notes.push("not completed");
    else if (one.took_s) notes.push(seconds(one.took_s));
    return element("li", { class: `${one.kind}${one.failed ? " fail" : ""}${one.open ? " open" : ""}` },
      lazily(element("details", {}, element("summary", {},
        element("span", { class: "kind" }, one.kind), one.title,
        element("span", { class: "note" }, [one.id, ...notes].join(" · ")))),
      (details) => {
        details.append(element("p", { class: "label" }, `began ${one.at}`));
        for (const part of one.parts) details.append(element("p", { class: "label" }, part.label), box(part.text, part.label));
      }));
  };
  const plot = (run) => {
    const width = Math.max(240, Math.min(900, 70 + run.turns.length * 46)), height = 150, left = 52, foot = 22;
    const most = Math.max(1, ...run.turns.map((turn) => (turn.input || 0) + (turn.output || 0)));
    const scale = (value) => ((height - foot - 12) * (value || 0)) / most;
    const slot = (width - left - 8) / run.turns.length, bar = Math.min(30, slot * 0.7);
    const every = Math.ceil(run.turns.length / 20);
    const picture = drawing("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": `Tokens of each of ${count(run.turns.length, "turn")}; the table below has the numbers` });
    for (const part of [0, 0.5, 1]) {
      const y = height - foot - scale(most * part);
      picture.append(drawing("line", { x1: left, x2: width, y1: y, y2: y, class: "axis" }),
        drawing("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, Math.round(most * part).toLocaleString("en")));
    }
    run.turns.forEach((turn, index) => {
      const x = left + index * slot + (slot - bar) / 2;
      let y = height - foot;
      const cached = Math.min(turn.cache_read || 0, turn.input || 0);
      for (const [name, value] of [["cached", cached], ["input", (turn.input || 0) - cached], ["output", turn.output || 0]]) {
        const tall = scale(value);
        y -= tall;
        if (tall > 0) picture.append(drawing("rect", { x, y, width: bar, height: tall, class: name }, drawing("title", {}, `${turn.step}: ${name} ${value}`)));
      }
      if (index % every === 0) picture.append(drawing("text", { x: x + bar / 2, y: height - 6, "text-anchor": "middle" }, String(index + 1)));
    });
    const key = (name, text) => [element("span", { class: `key ${name}` }), text];
    const table = lazily(element("details", {}, element("summary", {}, "The numbers")), (details) => details.append(
      element("table", {}, element("caption", {}, "Tokens by turn"),
        element("thead", {}, element("tr", {}, ...["turn", "step", "input", "of it from cache", "output"].map((name) => element("th", { scope: "col" }, name)))),
        element("tbody", {}, ...run.turns.map((turn, index) => element("tr", {}, element("th", { scope: "row" }, String(index + 1)), element("td", {}, turn.step),
          ...[turn.input, turn.cache_read, turn.output].map((value) => element("td", { class: "number" }, tokens(value)))))))));
    return element("figure", {}, element("figcaption", {}, "Tokens by turn", ...key("output", "output"), ...key("input", "input, new"), ...key("cached", "input, from cache")), picture, table);
  };
  const runsSection = (runs) => (runs.length ? section("Runs", ...runs.flatMap((run) => [
    element("h3", {}, `${run.run}: ${count(run.turns.length, "turn")}, ${run.state}`),
    element("ol", { class: "steps", "aria-label": `Steps of ${run.run}` }, ...run.steps.map(step)),
    run.turns.some((turn) => turn.input !== null || turn.output !== null) ? plot(run) : null,
    element("pre", { "aria-label": "Economy" }, run.economy.join("\n")),
  ])) : null);

  // Goldens

  const absent = (value) => (value === null ? element("em", {}, "absent") : value);
  const marks = { "~": ["lost", "found", "≠"], "-": ["lost", "", "−"], "+": ["", "found", "+"], "=": ["", "", ""] };
  const line = ([kind, left, right]) => {
    if (kind === "…") return element("tr", { class: "gap" }, element("td", { colspan: "3" }, left));
    const [before, after, mark] = marks[kind];
    return element("tr", {}, element("td", { class: before }, left), element("td", { class: "mark" }, mark), element("td", { class: after }, right));
  };
  const heads = (...names) => element("thead", {}, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name))));
  const sides = (golden) => {
    const { paths, more, lines } = golden.sides;
    const parts = [element("table", { class: "paths" }, element("caption", {}, `Where ${golden.name} differs${more ? `; ${more} more are not shown` : ""}`),
      heads("path", "expected", "came"),
      element("tbody", {}, ...paths.map(([path, expected, came]) => element("tr", {}, element("th", { scope: "row" }, path), element("td", {}, absent(expected)), element("td", {}, absent(came))))))];
    if (lines.length) parts.push(element("table", { class: "sides lines" }, element("caption", {}, "Side by side"),
      element("colgroup", {}, element("col"), element("col", { class: "mark" }), element("col")), heads("expected", "", "came"), element("tbody", {}, ...lines.map(line))));
    return parts;
  };
  const golden = (one) => {
    if (one.status === "same" || one.status === "written") return element("li", {}, element("span", { class: "good" }, one.status === "same" ? "✓ same" : "written"), ` ${one.name} `, element("span", { class: "quiet" }, one.file));
    return element("li", {}, element("span", { class: "bad" }, one.status === "differs" ? "✗ differs" : "✗ missing"), ` ${one.name} `, element("span", { class: "quiet" }, one.file),
      ...(one.sides ? sides(one) : [element("p", { class: "label" }, "What came"), box(one.came, "What came")]),
      element("p", { class: "label" }, "If what came is right: ", element("code", {}, one.command)));
  };
  const goldensSection = (list) => (list.length ? section("Goldens", element("ul", { class: "plain" }, ...list.map(golden))) : null);

  // Resume

  const cell = (state) => (state === null ? element("td", { class: "quiet" }, "–")
    : element("td", { class: state === "ok" ? "good" : "lost bad" }, state === "ok" ? "✓ ok" : "✗ failed"));
  const finding = (one) => element("li", {}, element("span", { class: "bad" }, one.check), ` ${one.where}: ${one.message}`,
    element("table", { class: "paths" }, element("tbody", {}, ...[["step", one.step], ["at", one.path], ["recorded", one.recorded], ["came", one.came], ["likely cause", one.cause],
      ["all differences", one.difference.join("\n")]].filter(([, text]) => text).map(([name, text]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "kept" }, text))))));
  const resume = (report) => {
    const table = element("table", {}, element("caption", {}, "What became of the run, by where and how it was stopped"), heads("boundary", "step", ...report.stops),
      element("tbody", {}, ...report.boundaries.map((one, index) => element("tr", {}, element("th", { scope: "row" }, String(one.number)),
        element("td", {}, element("code", {}, one.run === "run" ? one.step : `${one.run}: ${one.step}`)), ...report.cells[index].map(cell)))));
    const facts = [count(report.runs, "stopped run"), `${report.asked_again} answers asked for again`, `${report.run_again} idempotent calls run again`, `${report.uncertain} calls left uncertain`];
    return [element("p", { class: report.ok ? "good" : "bad" }, report.ok ? "The same run after every stop" : "Not the same run after a stop", element("span", { class: "quiet" }, ` · ${facts.join(" · ")}`)),
      ...[...report.perturbed, ...report.notes].map((note) => element("p", { class: "quiet" }, note)),
      report.findings.length ? element("ol", { class: "plain" }, ...report.findings.slice(0, 20).map(finding)) : null,
      report.findings.length > 20 ? element("p", { class: "warn" }, `and ${count(report.findings.length - 20, "finding")} more`) : null,
      report.stops.length ? element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Resume table" }, table) : null];
  };
  const resumesSection = (list) => (list.length ? section("Stopped and resumed", ...list.flatMap(resume)) : null);

  // The list

  const rows = JSON.parse(document.getElementById("rows").textContent);
  const nouns = { exchanges: "exchange", scripted: "scripted turn", runs: "run", goldens: "golden", resumes: "resume table" };
  const fill = (number) => (details) => {
    const test = JSON.parse(document.getElementById(`part-${number}`).textContent);
    const left = Object.entries(test.left_out || {}).map(([name, missing]) => count(missing, nouns[name]));
    details.append(element("div", { class: "inside" },
      failureSection(test), runsSection(test.runs || []), goldensSection(test.goldens || []), resumesSection(test.resumes || []),
      exchangesSection("Exchanges", test.exchanges || [], test.unused), exchangesSection("Scripted turns", test.scripted || []),
      left.length ? element("p", { class: "warn" }, `Not shown, since there are many: ${left.join(", ")} more.`) : null,
      details.dataset.empty ? element("p", { class: "quiet" }, "This test handed in nothing: it used none of the plugin's fixtures.") : null));
  };
  const list = document.getElementById("tests");
  const items = rows.map((row, number) => {
    const counts = Object.entries(row.counts).map(([name, many]) => count(many, nouns[name]));
    if (row.tokens) counts.push(`${tokens(row.tokens)} tokens`);
    counts.push(seconds(row.took_s));
    const item = element("details", { class: `test ${row.outcome}`, id: `test-${number}`, "data-empty": Object.keys(row.counts).length || row.outcome !== "passed" ? null : "yes" },
      element("summary", {}, element("b", {}, row.outcome), element("code", {}, row.id), element("span", { class: "counts" }, counts.join(" · "))));
    return lazily(item, fill(number));
  });
  list.append(...items);

  const form = document.getElementById("filter"), words = document.getElementById("words"), shown = document.getElementById("shown");
  const checked = (name) => [...form.querySelectorAll(`input[name=${name}]:checked`)].map((input) => input.value);
  const apply = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean), outcomes = new Set(checked("outcome")), needed = checked("with");
    let visible = 0;
    rows.forEach((row, number) => {
      const id = row.id.toLowerCase();
      const fits = outcomes.has(row.outcome) && wanted.every((word) => id.includes(word)) && needed.every((name) => row.counts[name]);
      items[number].hidden = !fits;
      visible += fits ? 1 : 0;
    });
    shown.textContent = `${visible} of ${count(rows.length, "test")} shown`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("close-all").addEventListener("click", () => items.forEach((item) => { item.open = false; }));
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target.tagName !== "INPUT" && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); words.focus(); }
  });
  apply();
  // The first failure is what most people came for.
  const first = rows.findIndex((row) => row.outcome === "failed" || row.outcome === "error");
  if (first >= 0) items[first].open = true;
})();
