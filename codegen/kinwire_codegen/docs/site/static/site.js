// Theme, menu, links to places, tabs, folded parts, copying, outline and search. Pages can be read without it.
(function () {
  "use strict";
  const root = document.documentElement;
  const top = root.dataset.root;
  const all = (selector, inside) => Array.from((inside || document).querySelectorAll(selector));
  const store = {
    get(key) { try { return localStorage.getItem(key); } catch (_) { return null; } },
    set(key, value) { try { value ? localStorage.setItem(key, value) : localStorage.removeItem(key); } catch (_) { /* refused */ } },
  };

  // The icons of buttons that do nothing without this program: 500 pages need not repeat them.
  function icons() {
    const shapes = {
      find: '<circle cx="10.5" cy="10.5" r="6"/><path d="m15 15 5.5 5.5"/>',
      theme: '<circle cx="12" cy="12" r="8"/><path class="half" d="M12 4a8 8 0 0 1 0 16z"/>',
    };
    for (const [name, shape] of Object.entries(shapes)) {
      const icon = '<svg viewBox="0 0 24 24" aria-hidden="true">' + shape + "</svg>";
      document.querySelector("button." + name).insertAdjacentHTML("afterbegin", icon);
    }
    const find = document.querySelector("button.find");
    find.setAttribute("aria-haspopup", "dialog");
    find.insertAdjacentHTML("beforeend", "<span>Search</span><kbd>Ctrl K</kbd>");
  }

  function theme() {
    const button = document.querySelector(".theme");
    const label = { "": "as the system", light: "light", dark: "dark" };
    const tell = () => button.setAttribute("aria-label", "Theme: " + label[root.dataset.theme || ""]);
    button.addEventListener("click", () => {
      const next = { "": "dark", dark: "light", light: "" }[root.dataset.theme || ""];
      if (next) root.dataset.theme = next; else delete root.dataset.theme;
      store.set("kinwire-theme", next);
      tell();
    });
    tell();
  }

  function menu() {
    const button = document.querySelector(".menu"), nav = document.getElementById("page:nav");
    button.setAttribute("aria-controls", nav.id);
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      button.setAttribute("aria-expanded", String(nav.classList.toggle("open")));
    });
    const here = nav.querySelector("[aria-current]");
    if (here && here.offsetTop > nav.clientHeight) nav.scrollTop = here.offsetTop - nav.clientHeight / 2;
  }

  // The links that a place shows to itself: pages need not repeat the name that it has.
  function places() {
    all("article [id]").forEach((place) => {
      const holder = place.matches("h1, h2, h3, h4, h5, h6") ? place
        : place.matches(".field") ? place.firstElementChild
        : place.matches("tr") ? place.cells[place.dataset.at || 0] : null;
      if (!holder) return;
      const link = document.createElement("a");
      link.className = "anchor";
      link.href = "#" + place.id;
      link.setAttribute("aria-label", "Link to " + place.id);
      holder.append(link);
    });
  }

  function tabs() {
    const groups = all(".tabs").map((section) => {
      const panels = all(".tab", section), list = document.createElement("div");
      list.className = "tablist";
      list.setAttribute("role", "tablist");
      list.setAttribute("aria-label", "Example");
      const buttons = panels.map((panel) => {
        const button = document.createElement("button");
        button.type = "button";
        button.id = panel.id + ".tab";
        button.textContent = panel.querySelector("h3").textContent;
        button.setAttribute("role", "tab");
        button.setAttribute("aria-controls", panel.id);
        panel.setAttribute("role", "tabpanel");
        panel.setAttribute("aria-labelledby", button.id);
        panel.tabIndex = 0;
        list.append(button);
        return button;
      });
      const show = (chosen) => buttons.forEach((button, index) => {
        button.setAttribute("aria-selected", String(index === chosen));
        button.tabIndex = index === chosen ? 0 : -1;
        panels[index].hidden = index !== chosen;
      });
      buttons.forEach((button, index) => {
        button.addEventListener("click", () => { show(index); store.set("kinwire-tab", button.textContent); });
        button.addEventListener("keydown", (event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!step) return;
          const next = (index + step + buttons.length) % buttons.length;
          show(next);
          buttons[next].focus();
        });
      });
      section.prepend(list);
      const wanted = store.get("kinwire-tab");
      show(Math.max(0, buttons.findIndex((button) => button.textContent === wanted)));
      return { panels, show };
    });
    const linked = () => groups.forEach(({ panels, show }) => {
      const index = panels.findIndex((panel) => "#" + panel.id === decodeURIComponent(location.hash));
      if (index >= 0) show(index);
    });
    addEventListener("hashchange", linked);
    linked();
  }

  function copying() {
    all("pre").forEach((block) => {
      const holder = document.createElement("div"), button = document.createElement("button");
      holder.className = "held";
      block.replaceWith(holder);
      holder.append(block, button);
      block.tabIndex = 0;
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      button.addEventListener("click", () => {
        const text = block.innerText.split("\n");
        const session = block.querySelector("code.console") && text.some((line) => line.startsWith("$ "));
        const taken = session ? text.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2)) : text;
        navigator.clipboard.writeText(taken.join("\n")).then(
          () => { button.textContent = "Copied"; },
          () => { button.textContent = "Not allowed"; },
        );
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      });
    });
    all(".scroll, figure").forEach((box, index) => {
      if (box.scrollWidth <= box.clientWidth) return;
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", (box.tagName === "FIGURE" ? "Picture " : "Table ") + (index + 1));
    });
  }

  /** Opens the folded parts around the place that the address names, and all of them for print. */
  function folded() {
    const linked = () => {
      const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const around = [];
      for (let node = place; node; node = node.parentElement) if (node.tagName === "DETAILS" && !node.open) around.push(node);
      around.forEach((node) => { node.open = true; });
      if (around.length) place.scrollIntoView();
    };
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = all("details:not([open])");
      closed.forEach((node) => { node.open = true; });
    });
    addEventListener("afterprint", () => closed.forEach((node) => { node.open = false; }));
    addEventListener("hashchange", linked);
    linked();
  }

  function outline() {
    const links = new Map(all("aside a").map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
    if (!links.size || !("IntersectionObserver" in window)) return;
    const seen = new IntersectionObserver((entries) => {
      entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
        links.forEach((link) => link.classList.remove("here"));
        links.get(entry.target.id).classList.add("here");
      });
    }, { rootMargin: "-64px 0px -70% 0px" });
    links.forEach((_, id) => { const place = document.getElementById(id); if (place) seen.observe(place); });
  }

  function versions() {
    const select = document.querySelector(".version select");
    if (!select) return;
    const parts = location.pathname.split("/");
    const depth = (top.match(/\.\.\//g) || []).length;
    const page = parts.slice(parts.length - 1 - depth).join("/");
    select.addEventListener("change", () => {
      const there = /^[a-z]+:/.test(select.value) ? select.value : top + select.value;
      location.href = there.replace(/\/?$/, "/") + page + location.hash;
    });
  }

  let loading = null;
  const load = (name) => new Promise((resolve, reject) => {
    const script = document.createElement("script"); // a script, since a folder allows no fetch
    script.src = top + "assets/" + name;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
  function searching() {
    const open = () => {
      loading = loading || Promise.all([load("index.js"), load("search.js")]);
      loading.then(() => window.kinwireSearch.open(top));
    };
    all(".find").forEach((button) => button.addEventListener("click", open));
    addEventListener("keydown", (event) => {
      const typing = event.target.closest && event.target.closest("input, textarea, select");
      const asked = (event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey));
      if (!asked) return;
      event.preventDefault();
      open();
    });
  }

  icons(); theme(); menu(); places(); tabs(); folded(); copying(); outline(); versions(); searching();
})();
