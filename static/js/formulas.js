// Formulas: the TeX that the server marked is set as MathML, once. The library is fetched when there is a first one.
"use strict";
window.foldline = window.foldline || {};
{
  const { library, styles } = document.currentScript.dataset;
  const OPTIONS = { throwOnError: true, trust: false, maxExpand: 500, maxSize: [20, 20] };
  // A formula that defines commands can grow without end, and one with labels would name elements of this page.
  const REFUSED = /\\(?:[a-z]*(?:def|let|command)|DeclareMathOperator|label|[a-z]*ref)(?![a-z])/i;
  const [DEEPEST, LONG, KEPT] = [80, 40, 1000];
  // Milliseconds at a stretch; what is left over is set when the page has had a moment for its reader.
  const [STRETCH, MOMENT] = [400, 100];
  const trees = new Map();
  let [loading, isReady] = [false, false];

  // Styles go in as properties: as attributes the page's policy refuses them.
  function tidy(node, depth) {
    if (depth > DEEPEST) throw new RangeError("too deep");
    const [name, value] = (node.attributes?.style || "").split(":");
    if (name) node.style[name] = value;
    delete node.attributes?.style;
    node.children?.forEach((child) => tidy(child, depth + 1));
    return node;
  }

  function treeOf(tex, displayMode) {
    if (REFUSED.test(tex)) return null;
    try {
      return tidy(temml.__renderToMathMLTree(tex, { ...OPTIONS, displayMode }), 0);
    } catch {
      return null; // what can't be set stays as it was written
    }
  }

  function set(place) {
    const tex = place.textContent;
    const isDisplayed = place.classList.contains("display");
    const key = `${isDisplayed} ${tex}`;
    if (trees.size > KEPT) trees.clear();
    if (!trees.has(key)) trees.set(key, treeOf(tex, isDisplayed));
    const tree = trees.get(key);
    place.dataset.tex = tree ? tex : "";
    if (!tree) return;
    place.classList.toggle("long", !isDisplayed && tex.length > LONG);
    place.replaceChildren(tree.toNode());
  }

  function setAll(root) {
    const places = root.querySelectorAll(".math:not([data-tex])");
    if (!isReady) return void (places.length && !loading && load());
    const end = performance.now() + STRETCH;
    const late = [...places].findIndex((place) => performance.now() > end || set(place));
    if (late >= 0) setTimeout(setLate, MOMENT);
  }

  // What is read and doesn't grow itself: it stays where it is.
  function still() {
    const top = foldline.scroll.scroller.getBoundingClientRect().top;
    return [...document.querySelectorAll("#scroll .prose > :not(.math)")].find(
      (place) => place.getBoundingClientRect().top >= top && !place.querySelector(".math"),
    );
  }

  function setLate() {
    const back = foldline.scroll?.mark(still());
    setAll(document);
    back?.();
  }

  function element(name, attributes) {
    const made = Object.assign(document.createElement(name), attributes);
    return new Promise((resolve, reject) => {
      Object.assign(made, { onload: resolve, onerror: reject });
      document.head.append(made);
    });
  }

  async function load() {
    loading = true;
    try {
      await Promise.all([
        element("link", { rel: "stylesheet", href: styles }),
        element("script", { src: library }),
        document.fonts.load('1em "Foldline Math"').catch(() => {}),
      ]);
    } catch {
      return; // the TeX can be read
    }
    isReady = true;
    setLate();
  }

  const formulaAround = (node) => (node.closest ? node : node.parentElement)?.closest(".math");

  // What is copied is the TeX: by itself from within one formula, else between the marks it could be written with.
  document.addEventListener("copy", (event) => {
    const selection = getSelection();
    if (selection.isCollapsed) return;
    const range = selection.getRangeAt(0).cloneRange();
    const [first, last] = [range.startContainer, range.endContainer].map(formulaAround);
    if (first) range.setStartBefore(first);
    if (last) range.setEndAfter(last);
    const box = document.createElement("div");
    box.className = "visually-hidden";
    box.append(range.cloneContents());
    const formulas = box.querySelectorAll(".math");
    if (!formulas.length) return;
    formulas.forEach((each) => {
      const [open, close] = each.classList.contains("display") ? ["\\[", "\\]"] : ["\\(", "\\)"];
      const tex = each.dataset.tex || each.textContent;
      each.textContent = first && first === last ? tex : `${open}${tex}${close}`;
    });
    document.body.append(box); // only what is laid out has line breaks between its blocks
    event.clipboardData.setData("text/plain", box.innerText);
    box.remove();
    event.preventDefault();
  });

  // Before whoever keeps the reader's place measures what came.
  document.addEventListener("htmx:afterSwap", () => setAll(document), true);
  foldline.setFormulas = setAll;
  setAll(document);
}
