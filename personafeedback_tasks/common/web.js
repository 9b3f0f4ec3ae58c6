"use strict";

// Texts become text nodes, whatever they contain; attributes are ours.
function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

// Direction and language of a text, for fonts and screen readers: Chinese with more ideographs than Latin words.
function written(content) {
  const [han, latin] = [/\p{Script=Han}/gu, /\p{Script=Latin}+/gu].map((script) => content.match(script)?.length ?? 0);
  return han > latin ? { dir: "auto", lang: "zh" } : { dir: "auto" };
}

// Markdown: a small part of it, made of elements and text nodes; all else stays text.
// marked: text -> nodes that show it, where some of its words stand out.
const markdown = (() => {
  const FENCE = /^ {0,3}(```|~~~)/;
  const HEADING = /^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$/;
  const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
  const INLINE = /`([^`\n]+)`|\*\*(?=\S)([^\n]*?\S)\*\*|\*(?=[^\s*])([^*\n]*?[^\s*])\*|(?<![\p{L}\p{N}_])_(?=[^\s_])([^_\n]*?[^\s_])_(?![\p{L}\p{N}_])/gu;

  function inline(content, marked) {
    const nodes = [];
    let from = 0;
    for (const { 0: whole, 1: code, 2: bold, 3: star, 4: line, index } of content.matchAll(INLINE)) {
      nodes.push(...marked(content.slice(from, index)));
      if (code !== undefined) nodes.push(make("code", {}, ...marked(code)));
      else if (bold !== undefined) nodes.push(make("strong", {}, ...inline(bold, marked)));
      else nodes.push(make("em", {}, ...inline(star ?? line, marked)));
      from = index + whole.length;
    }
    return [...nodes, ...marked(content.slice(from))];
  }

  return function markdown(content, marked = (text) => [text]) {
    const root = make("div", { class: "text rendered", ...written(content) });
    const lines = content.split("\n");
    let lists = []; // those that are open, the outermost first
    let paragraph = null;
    for (let at = 0; at < lines.length; at += 1) {
      const line = lines[at];
      const fence = line.match(FENCE)?.[1];
      const heading = line.match(HEADING);
      const item = line.match(ITEM);
      if (!line.trim()) {
        paragraph = null;
      } else if (fence) {
        const end = lines.findIndex((other, place) => place > at && other.match(FENCE)?.[1] === fence);
        const inside = lines.slice(at + 1, end < 0 ? lines.length : end);
        root.append(make("pre", { tabindex: 0 }, make("code", {}, ...marked(inside.join("\n")))));
        at = end < 0 ? lines.length : end;
        [lists, paragraph] = [[], null];
      } else if (heading) {
        root.append(make("p", { class: "heading" }, ...inline(heading[1], marked)));
        [lists, paragraph] = [[], null];
      } else if (item) {
        const [, space, number, rest] = item;
        const level = Math.floor(space.replaceAll("\t", "    ").length / 2);
        const tag = number === undefined ? "UL" : "OL";
        while (lists.length && (lists.at(-1).level > level || (lists.at(-1).level === level && lists.at(-1).node.tagName !== tag))) lists.pop();
        if (!lists.length || lists.at(-1).level < level) {
          const node = make(tag, number === undefined ? {} : { start: Number(number) });
          (lists.at(-1)?.node.lastElementChild ?? root).append(node);
          lists.push({ level, node });
        }
        paragraph = make("li", {}, ...inline(rest, marked));
        lists.at(-1).node.append(paragraph);
      } else if (paragraph) {
        paragraph.append(make("br", {}), ...inline(line.trim(), marked));
      } else {
        const inItem = lists.length && /^\s{2,}/.test(line);
        if (!inItem) lists = [];
        paragraph = make("p", {}, ...inline(line.trim(), marked));
        (inItem ? lists.at(-1).node.lastElementChild : root).append(paragraph);
      }
    }
    return root;
  };
})();

// A profile as lines: a name at the beginning of a line is a label, with spaces for underscores.
function profile(content) {
  const lines = content.split("\n").map((line) => {
    const [, space, label, rest] = line.match(/^( *)(?:([\p{L}\p{N}_]+):(?: |$))?(.*)$/u);
    const depth = Math.min(3, Math.floor(space.length / 2));
    const name = label === undefined ? null : make("b", {}, `${label.replaceAll("_", " ")}: `);
    return make("p", { class: `depth${depth}${name && !rest ? " part" : ""}` }, name, rest.replace(/^- /, "• "));
  });
  return make("div", { class: "text profile", ...written(content) }, ...lines);
}
