// What must hold for a page, seen from inside it. Each function gives complaints in words.

// The texts that can be seen, each with its box: of an svg `text` its own, else one for each line.
function texts() {
  const clips = new Map(), found = [];
  const clip = (element) => {  // what scrolling and hiding ancestors leave to be seen
    if (!element || element === document.documentElement || element === document.body)
      return {left: -1e9, top: -1e9, right: 1e9, bottom: 1e9};
    if (!clips.has(element)) {
      let box = clip(element.parentElement);
      const style = getComputedStyle(element);
      if (!(element instanceof SVGElement) && style.overflowX !== "visible") {
        const own = element.getBoundingClientRect();
        box = {
          left: Math.max(box.left, own.left), top: Math.max(box.top, own.top),
          right: Math.min(box.right, own.right), bottom: Math.min(box.bottom, own.bottom),
        };
      }
      if (style.visibility === "hidden" || style.opacity === "0") box = {left: 0, top: 0, right: 0, bottom: 0};
      clips.set(element, box);
    }
    return clips.get(element);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const words = node.data.trim(), parent = node.parentElement;
    if (!words || parent.closest("script,style,option,title,desc,template")) continue;
    if (!parent.checkVisibility({visibilityProperty: true})) continue;  // folded, for example
    const within = clip(parent);
    range.selectNodeContents(node);
    for (const box of parent.closest("text") ? [parent.closest("text").getBoundingClientRect()] : range.getClientRects()) {
      const seen = {
        left: Math.max(box.left, within.left), right: Math.min(box.right, within.right),
        top: Math.max(box.top, within.top), bottom: Math.min(box.bottom, within.bottom),
      };
      if (seen.right - seen.left > 2 && seen.bottom - seen.top > 2)
        found.push({...seen, words, parent, node: parent.closest("text") || node});
    }
  }
  return found;
}

function where(text) {
  const part = text.parent.closest("[id]");
  return `"${text.words.slice(0, 40)}" (#${part ? part.id : ""} at ${Math.round(text.left)}, ${Math.round(text.top + scrollY)})`;
}

// Two texts overlap where the middle parts of their boxes do: a line's box is higher than its letters.
function overlaps(all) {
  const middle = all.map((t) => {
    const free = 0.22 * (t.bottom - t.top);
    return {...t, top: t.top + free, bottom: t.bottom - free};
  }).sort((a, b) => a.top - b.top);
  const found = [];
  let open = [];
  for (const text of middle) {
    open = open.filter((other) => other.bottom > text.top + 0.5);
    for (const other of open)
      if (other.node !== text.node && other.left < text.right - 1 && text.left < other.right - 1)
        found.push(`${where(other)} and ${where(text)} overlap`);
    open.push(text);
  }
  return found;
}

function layout(least) {
  const root = document.documentElement, found = [], printed = matchMedia("print").matches;
  if (root.scrollWidth > root.clientWidth + (printed ? 3 : 0)) {  // a stroke's end may reach out
    const wide = [...document.body.querySelectorAll("*")].filter(
      (e) => e.getBoundingClientRect().right > root.clientWidth + 0.5 && !e.closest(".wide") && !e.closest("svg svg"));
    const last = wide.slice(-1)[0];
    found.push(`scrolls sideways: ${root.scrollWidth} px in ${root.clientWidth}` + (last ? `, by ${last.outerHTML.slice(0, 120)}` : ""));
  }
  const all = texts();
  for (const text of all) {
    if (text.left < (printed ? -10 : -0.5) || text.right > root.clientWidth + 0.5) found.push(`${where(text)} is cut off`);
    const scale = text.parent.ownerSVGElement?.getScreenCTM().a ?? 1;  // a picture of its own size may be scaled
    const size = parseFloat(getComputedStyle(text.parent).fontSize) * scale * (printed ? 2 : 1);
    if (size < least - 0.01) found.push(`${where(text)} is ${size} px high`);
  }
  return [...found, ...overlaps(all)].slice(0, 60);
}

function structure() {
  const found = [], all = (what) => [...document.querySelectorAll(what)];
  const brief = (element) => element.outerHTML.slice(0, 160);
  const ids = new Set();
  for (const element of all("[id]")) {
    if (ids.has(element.id)) found.push(`the id ${element.id} is there twice`);
    ids.add(element.id);
  }
  for (const link of all('[href^="#"]'))
    if (!ids.has(decodeURIComponent(link.getAttribute("href").slice(1)))) found.push(`no target: ${brief(link)}`);
  for (const link of all("[href]"))
    if (!/^(#|https:\/\/)/.test(link.getAttribute("href"))) found.push(`leads elsewhere: ${brief(link)}`);
  for (const element of all("[src],[srcset],[action],[poster],image,link,iframe,object,embed,base,form"))
    found.push(`not of this file: ${brief(element)}`);
  for (const element of all("*"))
    for (const name of element.getAttributeNames())
      if (name.startsWith("on")) found.push(`a handler: ${brief(element)}`);
  let level = 0;
  for (const heading of all("h1,h2,h3,h4,h5,h6")) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) found.push(`h${own} after h${level}: ${heading.textContent.trim().slice(0, 60)}`);
    if (!heading.textContent.trim()) found.push(`an empty heading: ${brief(heading)}`);
    level = own;
  }
  if (all("h1").length !== 1) found.push(`${all("h1").length} h1`);
  for (const svg of all("svg")) {
    if (svg.parentElement.closest("svg")) continue;
    const said = (svg.getAttribute("aria-label") || "").trim();
    if (svg.getAttribute("role") === "img" ? !said : svg.getAttribute("aria-hidden") !== "true")
      found.push(`neither an alt text nor hidden: ${brief(svg)}`);
  }
  for (const table of all("table")) {
    if (!table.caption) found.push(`no caption: ${brief(table)}`);
    for (const cell of table.querySelectorAll("th"))
      if (!cell.hasAttribute("scope")) found.push(`no scope: ${brief(cell)}`);
  }
  for (const text of all("text"))
    if (text.textLength.baseVal.value && text.hasAttribute("textLength")) found.push(`stretched: ${brief(text)}`);
  return found.slice(0, 60);
}

// The shape of a row and of what it stands in: tags, classes, and attributes without their numbers and names.
function shape(row) {
  const place = [];
  for (let e = row.parentElement; e; e = e.parentElement) place.push(`${e.tagName}.${e.getAttribute("class")}`);
  const copy = row.cloneNode(true);
  for (const element of [copy, ...copy.querySelectorAll("*")]) {
    for (const node of [...element.childNodes]) if (node.nodeType === Node.TEXT_NODE) node.data = node.data.trim() && "x";
    for (const name of element.getAttributeNames()) {
      const value = element.getAttribute(name);
      if (/^(id|href|headers|title|aria-label|aria-labelledby|d|points)$/.test(name)) element.setAttribute(name, value && "x");
      else if (name !== "class" && !/#|rgb|hsl|colou?r/.test(value)) element.setAttribute(name, value.replace(/[\d.]+/g, "0"));
    }
  }
  return [copy.outerHTML, ...place].join(" ");
}

// What stands in what: a part of benchmarks in which nothing is new looks as those before it.
function kinds(part) {
  const of = (e) => `${e.tagName}.${e.getAttribute("class")}`;
  return [...part.querySelectorAll("*")].map((e) => `${of(e.parentElement)} ${of(e)}`);
}

function thin(parts) {
  const known = new Set();
  [...document.querySelectorAll("[data-jump]")].forEach((part, k) => {
    const fresh = kinds(part).filter((kind) => !known.has(kind));
    if (k >= parts || (k && !fresh.length)) part.remove();
    fresh.forEach((kind) => known.add(kind));
  });
  const seen = new Map();
  for (const row of document.querySelectorAll("tbody > tr")) {
    const own = shape(row);
    seen.set(own, (seen.get(own) || 0) + 1);
    if (seen.get(own) > 2) row.remove();
  }
}

const opened = "data-opened-by-a-check";

function unfold() {
  for (const part of document.querySelectorAll("details:not([open])")) {
    part.open = true;
    part.setAttribute(opened, "");
  }
}

function fold() {
  for (const part of document.querySelectorAll(`[${opened}]`)) part.open = false;
}
