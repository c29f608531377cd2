// Finds pages and places by whole names, parts of names, camelCase pieces and near misses.
(function () {
  "use strict";
  const KINDS = { method: 3, tool: 3, protocol: 2.5, error: 2.6, across: 2.4, type: 1.6, guide: 2, api: 1.2, data: 1, changes: .5, member: .6, section: .8, row: .3, start: 0 };
  const SHOWN = 30;

  /** Pieces of a name: `context/beforeInference` is context, before, inference. */
  function pieces(text) {
    const parts = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
    return parts.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  }
  const compact = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

  /** Number of typing errors between two words, or more than `most`. Swapped letters are one. */
  function slips(a, b, most) {
    if (Math.abs(a.length - b.length) > most) return most + 1;
    let before = [], last = Array.from({ length: b.length + 1 }, (_, i) => i);
    for (let i = 1; i <= a.length; i++) {
      const row = [i];
      let least = i;
      for (let j = 1; j <= b.length; j++) {
        let cost = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2] + 1);
        row.push(cost);
        least = Math.min(least, cost);
      }
      if (least > most) return most + 1;
      before = last;
      last = row;
    }
    return last[b.length];
  }

  /** How well a word that was typed fits a word of a name: 0 to 10. */
  function fit(typed, word) {
    if (word === typed) return 10;
    if (word.startsWith(typed)) return 6 + 3 * typed.length / word.length;
    if (typed.length > 3 && typed.startsWith(word) && word.length > 3) return 4.5;
    if (typed.length > 2 && word.includes(typed)) return 3 + 2 * typed.length / word.length;
    const most = typed.length < 4 ? 0 : typed.length < 8 ? 1 : 2;
    if (!most || /\d/.test(typed)) return 0;
    const found = slips(typed, word, most);
    if (found <= most) return 6 - 1.5 * found;
    const start = word.length > typed.length ? slips(typed, word.slice(0, typed.length), 1) : 2;
    return typed.length > 4 && start <= 1 ? 3 : 0;
  }

  function entries({ pages, places }) {
    const found = pages.map(([name, url, kind, place, about]) => ({
      name, url, kind, place, about, own: pieces(name), near: pieces(place), said: pieces(about), compact: compact(name),
    }));
    places.forEach(([number, kind, name, anchor, about]) => {
      const page = found[number];
      const own = pieces(name.replace(/^(params|result)\./, ""));
      found.push({
        name, page: page.name, url: page.url + "#" + anchor, kind, place: page.place, about,
        own, near: page.own, said: pieces(about), compact: compact(page.name + name), alone: kind === "member" ? "" : compact(name),
      });
    });
    return found;
  }

  function score(entry, words, whole, known) {
    let total = 0, hits = 0;
    for (const typed of words) {
      const best = (list) => list.reduce((most, word) => Math.max(most, known(typed, word)), 0);
      const own = best(entry.own);
      const value = Math.max(own, best(entry.near) * (entry.page ? .75 : .45), own ? 0 : best(entry.said) * .2);
      if (!value) return 0;
      if (own) hits++;
      total += value;
    }
    if (!hits && entry.page) return 0;
    total = total / words.length + hits / words.length * 2 + (KINDS[entry.kind] || 0);
    total -= Math.max(0, entry.own.length - hits) * .35;
    if (entry.compact === whole) total += 12;
    else if (entry.alone === whole) total += 3;
    else if (entry.compact.startsWith(whole)) total += 2;
    else if (entry.compact.includes(whole)) total += 1;
    return total;
  }

  let all = null;
  function find(query) {
    all = all || entries(window.KINWIRE_INDEX);
    const words = pieces(query), whole = compact(query);
    if (!words.length) return [];
    const cache = new Map();
    const known = (typed, word) => {
      const key = typed + " " + word;
      if (!cache.has(key)) cache.set(key, fit(typed, word));
      return cache.get(key);
    };
    return all.map((entry, order) => ({ entry, order, value: score(entry, words, whole, known) }))
      .filter((one) => one.value > 0)
      .sort((a, b) => b.value - a.value || a.order - b.order)
      .slice(0, SHOWN).map((one) => one.entry);
  }

  let dialog = null, root = "", results = [], chosen = 0;
  const make = (tag, facts, ...inner) => {
    const node = Object.assign(document.createElement(tag), facts);
    node.append(...inner);
    return node;
  };
  function marked(text, words) {
    const parts = words.filter((word) => word.length > 1).map((word) => word.replace(/[^\p{L}\p{N}]/gu, ""));
    const found = parts.length ? text.split(new RegExp("(" + parts.join("|") + ")", "i")) : [text];
    return found.map((part, index) => (index % 2 ? make("mark", { textContent: part }) : part));
  }
  function build() {
    const input = make("input", { type: "search", placeholder: "Method, member, type, error, guide …", autocomplete: "off", spellcheck: false });
    const list = make("div", { id: "search:hits" });
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Results");
    Object.entries({ role: "combobox", "aria-label": "Search", "aria-controls": "search:hits", "aria-expanded": "true", "aria-autocomplete": "list" })
      .forEach(([name, value]) => input.setAttribute(name, value));
    const keys = make("p", { className: "keys" }, "↑↓ choose", " ", "↵ open", " ", "esc close");
    keys.style.margin = "0";
    dialog = make("dialog", { className: "search" }, input, list, keys);
    dialog.setAttribute("aria-label", "Search");
    document.body.append(dialog);
    const choose = (index) => {
      const options = list.querySelectorAll("[role=option]");
      if (!options.length) return;
      chosen = (index + options.length) % options.length;
      options.forEach((option, number) => option.setAttribute("aria-selected", String(number === chosen)));
      input.setAttribute("aria-activedescendant", options[chosen].id);
      options[chosen].scrollIntoView({ block: "nearest" });
    };
    const go = (index) => {
      if (!results[index]) return;
      dialog.close();
      location.href = root + results[index].url;
    };
    const show = () => {
      results = find(input.value);
      const words = pieces(input.value);
      list.replaceChildren(...results.map((entry, index) => {
        const name = make("span", { className: "hit" }, ...(entry.page ? [make("i", { textContent: entry.page + " › " })] : []), ...marked(entry.name, words));
        const about = make("span", { className: "about", textContent: [entry.place, entry.about].filter(Boolean).join(" · ") });
        const option = make("div", { id: "search:hit" + index }, make("span", { className: "sort", textContent: entry.kind }), name, about);
        option.setAttribute("role", "option");
        option.addEventListener("click", () => go(index));
        option.addEventListener("mousemove", () => { if (chosen !== index) choose(index); });
        return option;
      }));
      input.removeAttribute("aria-activedescendant");
      if (results.length) choose(0);
      else if (words.length) list.replaceChildren(make("div", { className: "empty", textContent: "Nothing of that name." }));
    };
    input.addEventListener("input", show);
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") choose(chosen + 1);
      else if (event.key === "ArrowUp") choose(chosen - 1);
      else if (event.key === "Enter") go(chosen);
      else return;
      event.preventDefault();
    });
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }
  window.kinwireSearch = {
    find,
    open(top) {
      root = top;
      if (!dialog) build();
      if (!dialog.open) dialog.showModal();
      dialog.querySelector("input").select();
    },
  };
})();
