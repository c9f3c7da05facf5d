"use strict";
// Sorts, filters, shows values, copies, downloads. Without it the page says all the same.
(() => {
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const make = (tag, properties = {}, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  };
  const button = (text, act) => {
    const made = make("button", {textContent: text});
    made.addEventListener("click", () => act(made));
    return made;
  };
  const told = make("p", {className: "unseen", role: "status"});
  const tip = make("div", {className: "tip", id: "tip", role: "tooltip", hidden: true});
  document.body.append(told, tip);
  const choice = (title, options, act) => {
    const select = make("select", {}, ...options.map(([value, text]) => make("option", {value, textContent: text})));
    select.addEventListener("change", () => act(select.value, select));
    return make("label", {}, `${title} `, select);
  };

  // What an element says: drawings and our own buttons left out, one space where a line ends.
  const words = (element) => {
    const copy = element.cloneNode(true);
    all("svg,script,.permalink,.tools,[aria-hidden=true]", copy).forEach((one) => one.remove());
    all("br,p,div,li,.second,.small", copy).forEach((one) => one.before(" "));
    return copy.textContent.replace(/\s+/g, " ").trim();
  };

  // --- sorting
  const collator = new Intl.Collator("en", {numeric: true});
  const key = (text) => (text.trim() && !isNaN(text) ? +text : text);
  const compare = (a, b) => {
    const [first, second] = [a, b].map((one) => typeof one === "number");
    return first && second ? a - b : second - first || collator.compare(a, b);
  };
  // Puts rows in order; those without a value come last either way.
  const arrange = (body, value, direction) => {
    const rows = [...body.rows].map((row, place) => {
      row.dataset.place ??= place;
      return [direction ? value(row) : +row.dataset.place, row];
    });
    rows.sort(([a], [b]) => (a === "") - (b === "") || (direction || 1) * compare(a, b));
    body.append(...rows.map(([, row]) => row));
  };
  const sortable = (table) => {
    const heads = all("thead tr:last-child>*", table);
    for (const [at, head] of heads.entries()) {
      if (!head.textContent.trim()) continue;
      const press = button("", () => {
        const direction = {ascending: -1, descending: 0}[head.ariaSort] ?? 1;
        for (const other of heads) other.ariaSort = null;
        head.ariaSort = [null, "ascending", "descending"].at(direction);
        const value = (row) => {
          let end = 0;
          const cell = [...row.cells].find((one) => (end += one.colSpan) > at);
          return cell ? key(cell.dataset.sort ?? words(cell)) : "";
        };
        for (const body of table.tBodies) arrange(body, value, direction);
      });
      press.append(...head.childNodes);
      head.append(press);
    }
  };

  // --- filtering
  const filter = (list) => {
    const items = all(":scope>tbody>tr", list);
    const box = make("input", {type: "search"});
    box.addEventListener("input", () => {
      const asked = box.value.toLowerCase().split(/\s+/);
      for (const item of items) {
        const said = words(item).toLowerCase();
        item.hidden = !asked.every((word) => said.includes(word));
      }
      told.textContent = `${items.filter((item) => !item.hidden).length} of ${items.length}`;
    });
    around(list).before(tools(make("label", {}, `${list.dataset.filter || "show only"} `, box)));
  };

  // --- values under the pointer
  const show = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const {width, height} = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - width - 4))}px`;
    tip.style.top = `${y > height + 20 ? y - height - 10 : y + 18}px`;
  };
  const hide = () => { tip.hidden = true; };
  // The dot of a cloud that is nearest to the pointer, and its value on the cloud's axis.
  const nearest = (plot, x, y) => {
    let best = 14 ** 2, text = "";
    for (const cloud of plot ? all("[data-axis] path", plot) : []) {
      const to = cloud.getScreenCTM();
      let a = 0, b = 0; // each dot is written as seen from the one before
      for (const [, right, down] of cloud.getAttribute("d").matchAll(/m(-?\d+) ?(-?\d+)h0/g)) {
        a += +right;
        b += +down;
        const far = (to.a * a + to.e - x) ** 2 + (to.d * b + to.f - y) ** 2;
        if (far >= best) continue;
        best = far;
        const [low, high, log, unit] = cloud.closest("[data-axis]").dataset.axis.split(" ");
        const share = 1 - b / 1000;
        const value = log === "1" ? low * (high / low) ** share : +low + (high - low) * share;
        text = `${+value.toPrecision(3)} ${unit ?? ""}`;
      }
    }
    return text;
  };
  addEventListener("pointermove", ({target, clientX, clientY}) => {
    const text = nearest(target.closest?.("svg.plot"), clientX, clientY);
    if (text) show(text, clientX, clientY);
    else hide();
  });
  addEventListener("keydown", ({key: pressed}) => { if (pressed === "Escape") hide(); });

  // --- copies
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", {value: text, className: "unseen"});
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    told.textContent = "copied";
  };
  const literal = (text) => text.replace(/[\\|`*_<>]/g, "\\$&").replace(/\]\(/g, "]\\(");
  const seen = (element) => element.checkVisibility();
  const markdown = (table) => {
    const line = (row) => [...row.cells].flatMap((cell) => [literal(words(cell)), ...Array(cell.colSpan - 1).fill("")]);
    const head = all("thead tr:last-child", table).flatMap(line);
    const rows = all("tbody tr,tfoot tr", table).filter(seen).map(line).filter((row) => row.some(Boolean));
    const kept = [...Array(999).keys()].filter((column) => rows.some((row) => row[column]));
    const full = (row) => `| ${kept.map((column) => row[column] ?? "").join(" | ")} |`;
    return [full(head), `|${" --- |".repeat(kept.length)}`, ...rows.map(full)].join("\n");
  };
  const summary = () => {
    const first = document.querySelector("main section");
    return all("h1,h2,h3,p,table,li", first).filter((one) => seen(one) && !one.matches(".screen,table *") && words(one)).map((one) => {
      if (one.matches("table")) return `${markdown(one)}\n`;
      return `${{P: "", LI: "- "}[one.tagName] ?? "## "}${literal(words(one))}${one.matches("li") ? "" : "\n"}`;
    }).join("\n") + "\n";
  };

  // --- what can be done with what has become visible
  const done = {};
  const fresh = (what) => {
    const known = (done[what] ??= new Set());
    return all(what).filter((one) => !one.closest("details:not([open])") && !known.has(one) && known.add(one));
  };
  const tools = (...inside) => make("p", {className: "tools screen"}, ...inside);
  const around = (table) => table.closest(".wide") ?? table;
  const equip = () => {
    fresh("table.sortable").forEach(sortable);
    for (const table of fresh("table:not([data-plain])")) around(table).after(tools(button("copy as Markdown", () => copy(markdown(table)))));
    for (const text of fresh(".copyable")) text.after(tools(button("copy", () => copy(text.textContent))));
    fresh("[data-filter]").forEach(filter);
  };
  let waiting = 0;
  document.addEventListener("toggle", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(equip);
  }, true);
  for (const raw of all("script[data-download]"))
    raw.before(tools(button(`download ${raw.dataset.download}`, () => {
      const href = URL.createObjectURL(new Blob([raw.textContent]));
      make("a", {href, download: raw.dataset.download}).click();
    })));

  // --- the row of controls
  const controls = document.getElementById("controls") ?? make("div");
  const metrics = all("main>[data-metric]");
  const jumps = all("[data-jump][id]");
  if (jumps.length > 1)
    controls.append(choice("go to", [["", "a benchmark"], ...jumps.map((one) => [one.id, one.dataset.jump])], (id, select) => {
      location.hash = id;
      reveal();
      select.value = "";
    }));
  if (metrics.length > 1)
    controls.append(choice("metric", [["", "all"], ...metrics.map(({dataset}) => [dataset.metric, dataset.metric])], (name) => {
      for (const part of metrics) part.toggleAttribute("data-off", name && part.dataset.metric !== name);
    }));
  controls.append(button("copy summary as Markdown", () => copy(summary())));
  controls.hidden = false;

  // --- a permalink opens what holds its target
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    for (let one = target?.querySelector(":scope>.chapter") || target; one; one = one.parentElement) if (one.matches("details")) one.open = true;
    target?.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  equip();
  if (location.hash) reveal();
})();
