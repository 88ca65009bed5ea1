// Runs the stream cases of the corpus on an adapter written here, by corpus/FORMAT.md alone.
//
//   node run_corpus.mjs [CORPUS]          prints what differs; status 1 where something does
//   node run_corpus.mjs --yaml FILE...    prints the values of YAML files as JSON, one a line
//
// Every stream is read whole, byte by byte and in its recorded chunks, and what comes of it is
// compared with the golden: text, reasoning, calls, finish reason, and whether it failed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readYaml } from "./yaml.mjs";

const load = (path) => readYaml(readFileSync(path, "utf8"), path);

// The bytes of a body, and the pieces they came in.
function bytesOf(body) {
  if (body.base64 !== undefined) return Buffer.from(body.base64, "base64");
  if (body.text !== undefined) return Buffer.from(body.text, "utf8");
  if (body.sse === undefined) return null;
  const [prefix, newline] = [body.prefix ?? "data: ", body.newline ?? "\n"];
  const events = body.sse.replace(/\n$/, "").split("\n");
  const written = events.map((event) => prefix + event + newline + newline).join("");
  return Buffer.from(written + (body.after ?? ""), "utf8");
}

function piecesOf(body, bytes) {
  let sizes = body.chunks;
  if (sizes === undefined) return [bytes];
  if (sizes === "events") {
    const around = Buffer.byteLength((body.prefix ?? "data: ") + (body.newline ?? "\n").repeat(2));
    sizes = body.sse.replace(/\n$/, "").split("\n").map((e) => around + Buffer.byteLength(e));
    if (body.after) sizes.push(Buffer.byteLength(body.after));
  }
  let start = 0;
  return sizes.map((size) => bytes.subarray(start, (start += size)));
}

// Server-sent events: the data of each event, however the bytes are cut.
class Sse {
  constructor() {
    this.rest = Buffer.alloc(0);
    this.data = [];
    this.done = false;
  }
  feed(piece, last = false) {
    const events = [];
    this.rest = Buffer.concat([this.rest, piece]);
    for (;;) {
      let end = -1;
      for (let i = 0; i < this.rest.length; i++) {
        if (this.rest[i] === 10 || this.rest[i] === 13) {
          end = i;
          break;
        }
      }
      // A CR at the very end may be half of a CR LF.
      if (end < 0 || (this.rest[end] === 13 && end === this.rest.length - 1 && !last)) break;
      const width = this.rest[end] === 13 && this.rest[end + 1] === 10 ? 2 : 1;
      this.line(this.rest.subarray(0, end).toString("utf8"), events);
      this.rest = this.rest.subarray(end + width);
    }
    if (last) {
      if (this.rest.length) this.line(this.rest.toString("utf8"), events);
      this.line("", events);
    }
    return events;
  }
  line(line, events) {
    if (this.done) return;
    if (line === "") {
      if (this.data.length) {
        const data = this.data.join("\n");
        if (data.trim() === "[DONE]") this.done = true;
        else events.push(data);
      }
      this.data = [];
    } else if (/^\ufeff?data:/.test(line)) {
      this.data.push(line.replace(/^\ufeff?data: ?/, ""));
    }
  }
}

const FINISH = { stop: "stop", length: "length", tool_calls: "tool_calls",
  function_call: "tool_calls", content_filter: "content_filter" };
const textOf = (value) =>
  typeof value === "string" ? value
  : Array.isArray(value) ? value.map((part) => (part.type === "text" ? part.text ?? "" : "")).join("")
  : value && typeof value === "object" ? JSON.stringify(value) : "";
const thoughtOf = (value) =>
  !Array.isArray(value) ? ""
  : value.filter((part) => part.type === "thinking").map((part) => textOf(part.thinking)).join("");

// What an adapter of this language makes of a stream.
function read(pieces, ending) {
  const sse = new Sse();
  const said = { text: "", calls: [], finish: null, failed: false };
  const thoughts = {};
  const think = (from, text) => (thoughts[from] = (thoughts[from] ?? "") + (text ?? ""));
  const take = (events) => {
    for (const data of events) {
      let chunk;
      try {
        chunk = JSON.parse(data);
      } catch {
        said.failed = true;
        return;
      }
      if (chunk === null || typeof chunk !== "object" || chunk.error) {
        said.failed = true;
        return;
      }
      const choices = (chunk.choices ?? []).filter((choice) => (choice.index ?? 0) === 0);
      for (const choice of choices) {
        const delta = choice.delta ?? {};
        said.text += textOf(delta.content);
        think("list", thoughtOf(delta.content));
        think("reasoning_content", textOf(delta.reasoning_content));
        think("reasoning", textOf(delta.reasoning));
        for (const detail of delta.reasoning_details ?? []) {
          think("details", detail.text ?? detail.summary);
        }
        for (const piece of delta.tool_calls ?? []) call(said.calls, piece);
        if (delta.function_call?.name || delta.function_call?.arguments) {
          call(said.calls, { index: 0, function: delta.function_call });
        }
        if (choice.finish_reason) said.finish = choice.finish_reason;
      }
    }
  };
  for (const piece of pieces) {
    if (!sse.done && !said.failed) take(sse.feed(piece));
  }
  if (!sse.done && !said.failed && ending !== "lost") take(sse.feed(Buffer.alloc(0), true));
  if (!said.failed && said.finish === null && (ending === "lost" || !sse.done)) said.failed = true;
  if (said.finish === "error" || (ending === "lost" && !sse.done)) said.failed = true;
  const order = ["reasoning_content", "reasoning", "list", "details"];
  said.reasoning = thoughts[order.find((from) => thoughts[from])] ?? "";
  return said;
}

function call(calls, piece) {
  const { id, index } = piece;
  let known = index === undefined || index === null
    ? (id ? calls.find((one) => one.id === id) : calls.at(-1))
    : calls.findLast((one) => one.index === index);
  // A new id starts a call, whatever its index says.
  if (known && id && known.id && known.id !== id) known = calls.find((one) => one.id === id);
  if (!known) calls.push((known = { id, index, name: "", text: "" }));
  const { name, arguments: text } = piece.function ?? piece.custom ?? {};
  known.id ||= id;
  if (name && name !== known.name) known.name += name;
  known.text += typeof text === "string" ? text : text ? JSON.stringify(text) : "";
}

// What the golden says, in the same words.
function wanted(entry) {
  const { response } = entry;
  if (!response) return { failed: entry.error !== undefined, closed: entry.error === undefined };
  const parts = response.message.content;
  const of = (kind) => parts.filter((part) => part.kind === kind);
  const join = (kind) => of(kind).map((part) => part.text ?? "").join("");
  return {
    failed: false,
    text: join("text"),
    reasoning: join("thinking"),
    calls: of("tool_call").map((part) => [part.name, part.unreadable_arguments ?? part.arguments]),
    finish: response.finish_reason,
  };
}

function differences(want, got) {
  const found = [];
  if (want.closed) return found;
  if (want.failed !== got.failed) return [`failed: ${want.failed} expected, ${got.failed} came`];
  if (want.failed) return found;
  const check = (what, a, b) => {
    if (JSON.stringify(a) !== JSON.stringify(b)) {
      found.push(`${what}: ${JSON.stringify(a)} expected, ${JSON.stringify(b)} came`);
    }
  };
  check("text", want.text, got.text);
  check("reasoning", want.reasoning, got.reasoning);
  check("calls", want.calls.map(([name, args]) => [name, canonical(args)]),
    got.calls.map((one) => [one.name, canonical(argumentsOf(one.text))]));
  const word = got.calls.length && got.finish === "stop" ? "tool_calls" : FINISH[got.finish];
  if (word) check("finish", want.finish, word);
  return found;
}

function argumentsOf(text) {
  if (text.trim() === "" || text.trim() === "null") return {};
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : text;
  } catch {
    return text;
  }
}

function canonical(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(canonical);
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, canonical(value[key])]));
}

function main(corpus) {
  const { cases } = load(join(corpus, "index.yaml"));
  let [streams, wrong] = [0, 0];
  for (const id of Object.keys(cases)) {
    const given = load(join(corpus, id, "case.yaml"));
    const { exchanges } = load(join(corpus, id, "exchange.yaml"));
    const golden = load(join(corpus, id, "golden.yaml"));
    given.asks.forEach((ask, number) => {
      const answer = exchanges[number].response;
      if (!ask.stream || !answer || answer.status >= 400) return;
      const bytes = bytesOf(answer);
      if (bytes === null) return;
      streams++;
      const want = wanted(golden.exchanges[number]);
      const cuts = {
        "in its chunks": piecesOf(answer, bytes),
        "whole": [bytes],
        "byte by byte": Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)),
      };
      for (const [how, pieces] of Object.entries(cuts)) {
        for (const one of differences(want, read(pieces, answer.ending))) {
          wrong++;
          console.log(`${id}, ask ${number + 1}, read ${how}: ${one}`);
        }
      }
    });
  }
  console.log(`${Object.keys(cases).length} cases, ${streams} streams read, ${wrong} differences`);
  return wrong ? 1 : 0;
}

const [first, ...rest] = process.argv.slice(2);
if (first === "--yaml") {
  for (const path of rest) console.log(JSON.stringify(load(path)));
} else {
  process.exitCode = main(first ?? "corpus");
}
