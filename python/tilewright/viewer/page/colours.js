// Words of a line, by its language: [text, class] pairs. Nothing is ever made HTML of text.
const WORDS = {
  python: [["c", /#.*/], ["s", /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/],
    ["k", /\b(?:def|class|return|for|in|if|else|elif|import|from|as|with|lambda|None|True|False|and|or|not|while|yield)\b/],
    ["n", /\b\d[\w.]*\b/]],
  nest: [["c", /#.*/], ["k", /\b(?:for|in|range|if|else|shared|local|global)\b/], ["n", /\b\d[\w.]*\b/]],
  mlir: [["c", /\/\/.*/], ["s", /"(?:[^"\\]|\\.)*"/], ["r", /[%^][\w$.#]+/], ["o", /\b[a-z_]+\.[a-z_][\w.]*/],
    ["k", /[#!@][\w$.]+/], ["n", /\b-?\d[\w.+]*\b/]],
  ptx: [["c", /\/\/.*/], ["r", /%[\w.]+/], ["o", /^\s*(?:@!?%p\d+\s+)?[a-z][\w.:]*/], ["k", /\.[a-z]\w*/], ["n", /\b(?:0[xfd])?\d\w*\b/]],
  sass: [["c", /\/\*.*?\*\/|\/\/.*/], ["o", /\b[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_.]+)*\b(?=\s|;)/], ["r", /\b!?U?[RP][T\d]+\b|\b[RU]?RZ\b/], ["n", /\b-?0x[0-9a-f]+\b/],
    ["k", /`?\(?\.L\w+\)?:?/]],
  cpp: [["c", /\/\/.*/], ["s", /"(?:[^"\\]|\\.)*"/],
    ["k", /#\w+|\b(?:const|for|if|else|while|return|void|int|long|unsigned|float|double|char|bool|struct|class|template|typename|extern|static|auto|break)\b|__\w+__/],
    ["n", /\b\d[\w.]*\b/]],
};
const SCANNERS = {};
for (const [language, rules] of Object.entries(WORDS)) {
  SCANNERS[language] = {
    pattern: new RegExp(rules.map(([, rule]) => "(" + rule.source + ")").join("|"), "g"),
    kinds: rules.map(([kind]) => kind),
  };
}

function paintWords(element, text, language) {
  const scanner = SCANNERS[language];
  const shown = text.length > 2000 ? text.slice(0, 2000) + " …" : text;
  if (!scanner) return void (element.textContent = shown);
  let at = 0;
  for (const found of shown.matchAll(scanner.pattern)) {
    if (found.index > at) element.append(shown.slice(at, found.index));
    const span = document.createElement("span");
    span.className = scanner.kinds[found.slice(1).findIndex((group) => group !== undefined)];
    span.textContent = found[0];
    element.append(span);
    at = found.index + found[0].length;
  }
  element.append(shown.slice(at));
}

// A hue for a line of the source: neighbours differ.
const hueOf = (line) => (line * 137.508) % 360;
