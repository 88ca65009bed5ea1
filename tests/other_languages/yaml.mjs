// The YAML that corpus/FORMAT.md allows, and nothing else: mappings, sequences and scalars of
// YAML 1.2 with JSON's values; no tags, anchors, aliases, merge keys or second documents.
// Blocks (`|`, `|-`, `|+`, with an indentation digit), both quotings, flow collections.

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;
const ESCAPES = {
  0: "\0", a: "\x07", b: "\b", t: "\t", n: "\n", v: "\v", f: "\f", r: "\r", e: "\x1b",
  " ": " ", '"': '"', "/": "/", "\\": "\\", N: "\x85", _: "\xa0", L: "\u2028", P: "\u2029",
};

export function readYaml(text, where = "yaml") {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  let at = 0;

  const fail = (why) => {
    throw new Error(`${where}:${at + 1}: ${why}`);
  };
  const indentOf = (line) => line.length - line.trimStart().length;
  const isEmpty = (line) => line.trim() === "" || line.trimStart().startsWith("#");
  const skip = () => {
    while (at < lines.length && isEmpty(lines[at])) at++;
    return at < lines.length;
  };

  function node(indent) {
    if (!skip()) return null;
    const line = lines[at].trimStart();
    return line === "-" || line.startsWith("- ") ? sequence(indentOf(lines[at])) : mapping(indent);
  }

  function sequence(indent) {
    const items = [];
    while (skip() && indentOf(lines[at]) === indent && /^-( |$)/.test(lines[at].trimStart())) {
      const rest = lines[at].slice(indent + 1);
      if (rest.trim() === "") {
        at++;
        items.push(skip() && indentOf(lines[at]) > indent ? node(indentOf(lines[at])) : null);
      } else if (keyOf(rest.trimStart()) !== null || /^- /.test(rest.trimStart())) {
        // `- key: value`: the item is a mapping that begins on this line.
        lines[at] = " ".repeat(indent + 1) + rest;
        items.push(node(indentOf(lines[at])));
      } else {
        items.push(value(rest.trimStart(), indent));
      }
    }
    return items;
  }

  function mapping(indent) {
    const found = {};
    let any = false;
    while (skip() && indentOf(lines[at]) === indent) {
      const key = keyOf(lines[at].trimStart());
      if (key === null) break;
      any = true;
      if (Object.hasOwn(found, key.name)) fail(`the key ${key.name} stands twice`);
      const rest = key.rest.trimStart();
      if (rest === "") {
        at++;
        const more = skip();
        const deeper = more && indentOf(lines[at]) > indent;
        const list = more && indentOf(lines[at]) === indent && /^-( |$)/.test(lines[at].trimStart());
        found[key.name] = deeper || list ? node(indentOf(lines[at])) : null;
      } else {
        found[key.name] = value(rest, indent);
      }
    }
    if (!any) fail("a mapping or a list was expected");
    return found;
  }

  // `key: rest` of a line; null where the line is a scalar or a flow collection.
  function keyOf(line) {
    if (line.startsWith('"') || line.startsWith("'")) {
      const end = quotedEnd(line, 0);
      if (end === null || line[end] !== ":" || (line[end + 1] ?? " ") !== " ") return null;
      return { name: quoted(line.slice(0, end)), rest: line.slice(end + 1) };
    }
    if (/^[[{|>]/.test(line)) return null;
    const match = /^([^:#]*(?:[:#](?! |$)[^:#]*)*?):(?: (.*)|)$/.exec(line);
    return match ? { name: match[1].trimEnd(), rest: match[2] ?? "" } : null;
  }

  function value(rest, indent) {
    if (/^\|/.test(rest)) return block(rest, indent);
    let source = rest;
    at++;
    if (/^[[{"']/.test(source)) {
      // A flow collection or a quoted text may go on in the next lines.
      while (!isWhole(source) && at < lines.length) source += ` ${lines[at++].trim()}`;
      const flow = new Flow(source);
      const result = flow.value();
      flow.end();
      return result;
    }
    return plain(source.replace(/ #.*$/, "").trimEnd());
  }

  function block(head, indent) {
    const [, digit, chomp] = /^\|(\d?)([-+]?)$/.exec(head.trimEnd()) ?? fail("an unknown block");
    at++;
    const start = at;
    while (at < lines.length && (lines[at].trim() === "" || indentOf(lines[at]) > indent)) at++;
    const body = lines.slice(start, at);
    const first = body.find((line) => line.trim() !== "");
    const depth = digit ? indent + Number(digit) : first === undefined ? 0 : indentOf(first);
    let text = body.map((line) => line.slice(depth)).join("\n");
    const kept = text.replace(/\n+$/, "");
    if (chomp === "-") return kept;
    if (chomp === "+") return `${text}\n`;
    return kept === "" ? "" : `${kept}\n`;
  }

  function isWhole(source) {
    let depth = 0;
    for (let i = 0; i < source.length; i++) {
      const c = source[i];
      if (c === '"' || (c === "'" && /^$|[\s,:[{]$/.test(source.slice(0, i)))) {
        const end = quotedEnd(source, i);
        if (end === null) return false;
        i = end - 1;
      } else if (c === "[" || c === "{") depth++;
      else if (c === "]" || c === "}") depth--;
    }
    return depth === 0;
  }

  function quotedEnd(source, start) {
    const quote = source[start];
    for (let i = start + 1; i < source.length; i++) {
      if (quote === '"' && source[i] === "\\") i++;
      else if (source[i] === quote) {
        if (quote === "'" && source[i + 1] === "'") i++;
        else return i + 1;
      }
    }
    return null;
  }

  function quoted(source) {
    const inside = source.slice(1, -1);
    if (source[0] === "'") return inside.replaceAll("''", "'");
    return inside.replace(/\\(x[\da-f]{2}|u[\da-f]{4}|U[\da-f]{8}|.)/gi, (_, code) => {
      if (code.length > 1) return String.fromCodePoint(Number.parseInt(code.slice(1), 16));
      return ESCAPES[code] ?? fail(`an unknown escape \\${code}`);
    });
  }

  function plain(source) {
    if (source === "" || source === "~" || source === "null") return null;
    if (source === "true") return true;
    if (source === "false") return false;
    if (NUMBER.test(source)) return Number(source);
    if (/^[&*!]/.test(source)) fail("tags, anchors and aliases are not allowed");
    return source;
  }

  class Flow {
    constructor(source) {
      this.source = source;
      this.i = 0;
    }
    space() {
      while (this.source[this.i] === " ") this.i++;
      return this.source[this.i];
    }
    end() {
      const left = this.source.slice(this.i).trim();
      if (left !== "" && !left.startsWith("#")) fail(`${left} stands behind a value`);
    }
    value() {
      const c = this.space();
      if (c === "[") return this.list();
      if (c === "{") return this.map();
      if (c === '"' || c === "'") return this.quoted();
      const start = this.i;
      while (this.i < this.source.length && !/[,\]}]/.test(this.source[this.i])) {
        if (this.source[this.i] === ":" && /[ ,\]}]|$/.test(this.source[this.i + 1] ?? " ")) {
          if ((this.source[this.i + 1] ?? " ") === " ") break;
        }
        this.i++;
      }
      return plain(this.source.slice(start, this.i).trim());
    }
    quoted() {
      const start = this.i;
      this.i = quotedEnd(this.source, start) ?? fail("a quotation that does not end");
      return quoted(this.source.slice(start, this.i));
    }
    list() {
      const items = [];
      this.i++;
      while (this.space() !== "]") {
        items.push(this.value());
        if (this.space() === ",") this.i++;
        else if (this.space() !== "]") fail("a list that does not end");
      }
      this.i++;
      return items;
    }
    map() {
      const found = {};
      this.i++;
      while (this.space() !== "}") {
        const key = String(this.value());
        if (this.space() !== ":") fail(`the key ${key} has no value`);
        this.i++;
        const next = this.space();
        found[key] = next === "," || next === "}" ? null : this.value();
        if (this.space() === ",") this.i++;
        else if (this.space() !== "}") fail("a mapping that does not end");
      }
      this.i++;
      return found;
    }
  }

  if (!skip()) return null;
  const line = lines[at].trimStart();
  const isBlock = line === "-" || line.startsWith("- ") || keyOf(line) !== null;
  const result = isBlock ? node(indentOf(lines[at])) : value(line, -1);
  if (skip()) fail("something stands behind the document");
  return result;
}
