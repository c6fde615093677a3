"use strict";
// Tables that sort and filter, figures that enlarge. Without it a page reads the same.
(() => {
  const FILTERED = ["family", "cost", "d", "dim", "algorithm", "study"];
  const VERDICTS = ["REFUTED", "INCONCLUSIVE", "NOT TESTABLE", "CONSISTENT", "CONFIRMED"];
  const NOTHING = /^[–—-]?$/;
  const NUMBER = /^[(<>≤≥~≈+]*\s*([-−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+)(?:e[-+]?\d+)?)(?:\/(\d+))?/i;
  const narrow = matchMedia("(max-width: 700px)");

  const words = (cell) => (cell ? cell.textContent.trim() : "");
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // The first number of a cell: "0.45 [0.43, 0.47]", "1,024", "1/2", "(−0.1)", "4e+59".
  function number(text) {
    const found = NUMBER.exec(text);
    return found ? Number(found[1].replaceAll(",", "").replace("−", "-")) / (found[2] || 1) : NaN;
  }

  // What a cell says now; what was struck out is history.
  function verdictsOf(cell) {
    const marks = cell ? [...cell.querySelectorAll("[data-verdict]")] : [];
    return marks.filter((mark) => !mark.closest("s")).map((mark) => mark.dataset.verdict);
  }

  // How the cells of a column compare: as numbers if all are, as verdicts if all start with one, or as words.
  function keysOf(rows, column) {
    const cells = rows.map((row) => row.cells[column]);
    const texts = cells.map(words);
    const there = texts.map((text) => !NOTHING.test(text));
    const numbers = texts.map(number);
    if (numbers.every((value, i) => !there[i] || !Number.isNaN(value))) return [there, numbers];
    const ranks = cells.map((cell) => VERDICTS.indexOf(verdictsOf(cell)[0]));
    if (ranks.every((rank, i) => !there[i] || rank >= 0)) return [there, ranks];
    return [there, texts];
  }

  const compare = (a, b) =>
    typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true, sensitivity: "base" });

  function dressTable(table) {
    const body = table.tBodies[0];
    const heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
    if (!body || body.rows.length < 2) return;
    const written = [...body.rows];
    const names = heads.map(words);
    const chosen = new Map(); // select -> whether a row passes
    const bar = make("div", { className: "bar" });

    function sort(column, direction) {
      let rows = written;
      if (direction) {
        const [there, keys] = keysOf(written, column);
        const sign = direction === "ascending" ? 1 : -1;
        const order = written.map((_, i) => i);
        order.sort((i, j) => there[j] - there[i] || (there[i] && sign * compare(keys[i], keys[j])) || i - j);
        rows = order.map((i) => written[i]); // cells without a value come last both ways
      }
      body.append(...rows);
      heads.forEach((head, i) => head.setAttribute("aria-sort", (i === column && direction) || "none"));
      sorting.value = direction ? `${column} ${direction}` : "";
    }

    const sorting = make("select", {}, make("option", { value: "" }, "as written"));
    heads.forEach((head, column) => {
      if (!names[column]) return;
      const button = make("button", { type: "button", title: "sort" }, ...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "" };
        sort(column, next[head.getAttribute("aria-sort")]);
      });
      for (const [direction, arrow] of [["ascending", "↑"], ["descending", "↓"]])
        sorting.append(make("option", { value: `${column} ${direction}` }, `${names[column]} ${arrow}`));
    });
    sorting.addEventListener("change", () => {
      const [column, direction] = sorting.value.split(" ");
      sort(Number(column), direction || "");
    });

    const count = make("output");
    function filter() {
      const tests = [...chosen].filter(([select]) => select.value).map(([select, passes]) => [select.value, passes]);
      for (const row of written) row.hidden = !tests.every(([value, passes]) => passes(row, value));
      const left = written.filter((row) => !row.hidden).length;
      count.textContent = left < written.length ? `${left} of ${written.length} rows` : "";
    }

    function choice(label, select, passes) {
      chosen.set(select, passes);
      select.addEventListener("change", filter);
      bar.append(make("label", {}, `${label} `, select));
    }

    if (written.length > 3) {
      heads.forEach((_, column) => {
        if (!FILTERED.includes(names[column])) return;
        const values = [...new Set(written.map((row) => words(row.cells[column])))];
        if (values.length < 2) return;
        values.sort(compare);
        const options = values.map((value) => make("option", { value }, value));
        const select = make("select", {}, make("option", { value: "" }, "all"), ...options);
        choice(names[column], select, (row, value) => words(row.cells[column]) === value);
      });
      const found = heads.map((_, column) => new Set(written.flatMap((row) => verdictsOf(row.cells[column]))));
      const all = new Set(found.flatMap((set) => [...set]));
      if (all.size > 1) {
        const select = make("select", {}, make("option", { value: "" }, "all"));
        const group = (label, column, set) => {
          const options = VERDICTS.filter((name) => set.has(name));
          const texts = options.map((name) => make("option", { value: `${column}:${name}` }, name));
          select.append(make("optgroup", { label }, ...texts));
        };
        const columns = found.map((set, column) => [names[column], column, set]).filter(([, , set]) => set.size);
        if (columns.length > 1) group("any column", -1, all);
        for (const [label, column, set] of columns) group(label, column, set);
        choice("verdict", select, (row, value) => {
          const [column, name] = value.split(":");
          return verdictsOf(column < 0 ? row : row.cells[column]).includes(name);
        });
      }
    }
    bar.append(make("label", { className: "sorting" }, "sort by ", sorting), count);
    bar.classList.toggle("filters", chosen.size > 0);
    table.parentElement.before(bar);
  }

  function dressFigures() {
    const pictures = [...document.querySelectorAll("body img")];
    if (!pictures.length) return;
    const large = make("img");
    const close = make("button", { type: "button", className: "close", title: "close (Esc)" }, "✕");
    close.setAttribute("aria-label", "close");
    const dialog = make("dialog", { className: "large" }, large, close);
    let shown = 0;
    const show = (i) => {
      shown = (i + pictures.length) % pictures.length;
      large.src = pictures[shown].src;
      large.alt = pictures[shown].alt;
      if (!dialog.open) dialog.showModal();
      dialog.scrollTo(0, 0);
    };
    pictures.forEach((picture, i) => {
      const button = make("button", { type: "button", className: "figure", title: "enlarge" });
      picture.replaceWith(button);
      button.append(picture);
      button.addEventListener("click", () => show(i));
    });
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) show(shown + step);
    });
    document.body.append(dialog);
  }

  // A table that fits, smaller letters tried, needs no box to scroll in, and its head stays in view.
  function fit() {
    const boxes = [...document.querySelectorAll(".box")];
    const fitting = () => boxes.map((box) => box.firstElementChild.scrollWidth <= box.clientWidth);
    const mark = (name, flags) => boxes.forEach((box, i) => box.classList.toggle(name, flags[i]));
    mark("tight", boxes.map(() => false));
    mark("tight", fitting().map((fits) => !fits));
    mark("fits", fitting());
  }

  document.querySelectorAll(".box > table").forEach(dressTable);
  dressFigures();
  fit();
  addEventListener("resize", fit);
  const contents = document.querySelector("#contents details");
  if (contents) {
    contents.open = !narrow.matches;
    const unfold = () => (contents.open = true);
    addEventListener("beforeprint", unfold);
    document.querySelector(".top").addEventListener("click", unfold);
  }
})();
