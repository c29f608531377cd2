// Finds pages and places by names, parts of names, typing errors, and words in their texts.
(function () {
  "use strict";
  const KINDS = { method: 3, tool: 3, protocol: 2.5, error: 2.6, reference: 2.4, list: .8, type: 1.6, guide: 2, api: 1.2, data: 1, changes: .5, field: .6, row: .3, guides: 1, start: 0 };
  const WRITTEN = new Set(["guide", "api"]); // they are about the words in their text
  const SHOWN = 30;
  const NOTHING = new Map();

  /** Pieces of a name: `context/beforeInference` is context, before, inference. */
  function pieces(text) {
    const parts = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
    return parts.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  }
  /** Words of a name that have several pieces: `WebSocket` is also websocket. */
  const whole = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || []).filter((word) => !pieces(text).includes(word));
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

  /** Typing errors that a word of this length may have. */
  const allowed = (typed) => (typed.length < 4 || /\d/.test(typed) ? 0 : typed.length < 5 ? 1 : 2);

  /** How well a word that was typed fits a word of a name: 0 to 10. */
  function fit(typed, word) {
    if (word === typed) return 10;
    if (word.startsWith(typed)) return 6 + 3 * typed.length / word.length;
    if (typed.length > 3 && typed.startsWith(word) && word.length > 3) return 5.5 * word.length / typed.length;
    if (typed.length > 2 && word.includes(typed)) return 3 + 2 * typed.length / word.length;
    const most = allowed(typed);
    if (!most) return 0;
    const found = slips(typed, word, most);
    if (found <= most) return found > 1 && typed.length < 8 ? 1.2 : 6 - 1.5 * found;
    const start = word.length > typed.length ? slips(typed, word.slice(0, typed.length), 1) : 2;
    return typed.length > 4 && start <= 1 ? 3 : 0;
  }

  function entries({ pages, places }) {
    const entry = (name, more) => {
      const own = pieces(name);
      return { name, size: own.length, own: own.concat(whole(name)), said: pieces(more.about), ...more };
    };
    const found = pages.map(([name, url, kind, place, about]) =>
      entry(name, { url, kind, place, about, near: pieces(place), compact: compact(name) }));
    places.forEach(([number, kind, name, anchor, about]) => {
      const page = found[number];
      const more = { page: page.name, url: page.url + "#" + (anchor || name), kind, place: page.place, about, near: page.own };
      const short = name.replace(/^(params|result)\./, "");
      found.push({ ...entry(short, more), name, compact: compact(page.name + name), alone: kind === "field" ? "" : compact(name) });
    });
    found.forEach((one, order) => { one.order = order; });
    return found;
  }

  /** How well an entry fits: `texts` has for each word the entries whose text has it. */
  function score(entry, words, joint, asked, known, texts) {
    let total = 0, hits = 0, inText = 0;
    const written = WRITTEN.has(entry.kind), said = (typed) => (texts.get(typed) || NOTHING).get(entry.order) || 0;
    const identifier = asked.includes("_") && said(asked) ? (written ? 9 + (KINDS[entry.kind] || 0) : 6) : 0;
    for (const typed of words) {
      const best = (list) => list.reduce((most, word) => Math.max(most, known(typed, word)), 0);
      const own = best(entry.own);
      const text = own > 2 ? 0 : said(typed);
      const value = Math.max(own, best(entry.near) * (entry.page ? .75 : .45), own ? 0 : best(entry.said) * .2, text && (written ? 2.5 + .5 * text : 1 + .3 * text));
      if (!value) return identifier;
      hits += own > 2 ? 1 : own / 10;
      if (text) inText++;
      total += value;
    }
    if (!hits && !inText && entry.page) return identifier;
    total = total / words.length + hits / words.length * 2 + (KINDS[entry.kind] || 0) * (hits || written ? 1 : .3);
    total -= Math.max(0, entry.size - hits) * (!hits ? 0 : entry.kind === "guide" ? .15 : .35); // headings are sentences
    if (entry.compact === joint) total += 12;
    else if (entry.alone === joint) total += 3;
    else if (entry.compact.startsWith(joint)) total += 2;
    else if (entry.compact.includes(joint)) total += 1;
    return Math.max(total, identifier);
  }

  /** Finds names of several parts that were typed as one word: `tolcall` is tools/call. */
  function joined(entry, joint) {
    if (entry.page || joint.length < 5 || entry.size < 2) return 0;
    const found = slips(joint, entry.compact, allowed(joint));
    return found <= allowed(joint) ? 13 - 2 * found + (KINDS[entry.kind] || 0) : 0;
  }

  let all = null, beginnings = null;
  const parts = new Map(), arrived = new Map();
  /** The words that begin as this one does, with the entries that have them in their texts. */
  function part(typed) {
    let beginning = typed;
    while (beginning && !beginnings.has(beginning)) beginning = beginning.slice(0, -1);
    if (!beginning) return Promise.resolve(NOTHING);
    if (!parts.has(beginning)) {
      parts.set(beginning, new Promise((resolve) => {
        const script = document.createElement("script"); // a script, since a folder allows no fetch
        const ascii = /^[\x00-\x7f]*$/.test(beginning);
        const file = ascii ? beginning : Array.from(beginning, (letter) => "-" + letter.codePointAt(0).toString(16)).join("");
        arrived.set(beginning, resolve);
        script.src = document.documentElement.dataset.root + "assets/words/w-" + file + ".js";
        script.onerror = () => resolve(NOTHING);
        document.head.append(script);
      }));
    }
    return parts.get(beginning);
  }
  /** The words of texts that a word may mean: itself, else longer ones, else those that are typing errors away. */
  function near(typed, known) {
    if (known.has(typed)) return [typed];
    const words = Array.from(known.keys());
    const longer = typed.length > 3 ? words.filter((word) => word.startsWith(typed)) : [];
    if (longer.length) return longer;
    const most = typed.length < 5 ? 0 : typed.length < 8 ? 1 : 2;
    return most ? words.filter((word) => slips(typed, word, most) <= most) : [];
  }
  /** How often entries have a word in their text, by their number. */
  async function counted(typed) {
    const known = await part(typed), found = new Map();
    near(typed, known).forEach((word) => known.get(word).forEach((steps, index) => {
      let number = 0;
      steps.forEach((step) => { number += step; found.set(number, Math.max(index + 1, found.get(number) || 0)); });
    }));
    return found;
  }
  const asked = (query) => query.trim().toLowerCase();
  async function inTexts(query) {
    const words = [...new Set([...pieces(query), ...(asked(query).includes("_") ? [asked(query)] : [])])];
    return new Map(await Promise.all(words.map(async (typed) => [typed, await counted(typed)])));
  }
  function remembered(make) {
    const cache = new Map();
    return (...given) => {
      const key = given.join(" ");
      if (!cache.has(key)) cache.set(key, make(...given));
      return cache.get(key);
    };
  }
  /** Finds entries by their names and, where the words of texts are loaded, by these. */
  function ranked(query, texts) {
    const words = pieces(query), joint = compact(query), known = remembered(fit);
    if (!words.length) return [];
    const value = (entry) => Math.max(score(entry, words, joint, asked(query), known, texts), joined(entry, joint));
    return all.map((entry) => ({ entry, value: value(entry) }))
      .filter((one) => one.value > 0)
      .sort((a, b) => b.value - a.value || a.entry.order - b.entry.order)
      .slice(0, SHOWN).map((one) => one.entry);
  }
  function read() {
    all = all || entries(window.KINWIRE_INDEX);
    beginnings = beginnings || new Set(window.KINWIRE_INDEX.parts);
  }
  async function find(query) {
    read();
    return ranked(query, await inTexts(query));
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
    const input = make("input", { type: "search", placeholder: "Guide, method, field, type, error …", autocomplete: "off", spellcheck: false });
    const list = make("div", { id: "search:hits" });
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Results");
    Object.entries({ role: "combobox", "aria-label": "Search", "aria-controls": "search:hits", "aria-expanded": "true", "aria-autocomplete": "list" })
      .forEach(([name, value]) => input.setAttribute(name, value));
    const keys = make("p", { className: "keys" }, "↑↓ select", " ", "↵ open", " ", "esc close");
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
    const fill = (found) => {
      results = found;
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
      else if (words.length) list.replaceChildren(make("div", { className: "empty", textContent: "No results." }));
    };
    /** Shows what has such a name, and as soon as the words of texts are there, what is about it. */
    const show = () => {
      const query = input.value;
      fill(ranked(query, NOTHING));
      inTexts(query).then((texts) => { if (query === input.value) fill(ranked(query, texts)); });
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
    add(beginning, words) { arrived.get(beginning)(new Map(words.map(([word, ...steps]) => [word, steps]))); },
    open(top) {
      root = top;
      read();
      if (!dialog) build();
      if (!dialog.open) dialog.showModal();
      dialog.querySelector("input").select();
    },
  };
})();
