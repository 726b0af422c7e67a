// The words that were looked for, marked where they are shown; accents and capitals don't count.
"use strict";
window.foldline = window.foldline || {};
{
  const bare = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();

  // The text without accents, and for each of its characters where it comes from.
  function plain(data) {
    let [text, at] = ["", 0];
    const places = [];
    for (const letter of data) {
      const letters = bare(letter);
      text += letters;
      for (let unit = 0; unit < letters.length; unit += 1) places.push(at);
      at += letter.length;
    }
    return { text, places: [...places, data.length] };
  }

  function rangesIn(node, wanted) {
    const { text, places } = plain(node.data);
    return [...text.matchAll(wanted)].map(({ index, 0: found }) => {
      const range = new Range();
      range.setStart(node, places[index]);
      range.setEnd(node, places[index + found.length]);
      return range;
    });
  }

  // The first place is returned, null where nothing is seen of the words.
  foldline.mark = (message, text) => {
    const words = text.match(/[^\s"“”„«»]+/g) || [];
    if (!words.length || !message) return null;
    const pattern = words.map((word) => bare(word).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).filter(Boolean).join("|");
    if (!pattern) return null;
    const texts = document.createTreeWalker(message, NodeFilter.SHOW_TEXT, {
      acceptNode: (node) => (node.parentElement.closest(".actions, template, h2") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT),
    });
    const ranges = [];
    while (texts.nextNode()) ranges.push(...rangesIn(texts.currentNode, new RegExp(pattern, "gu")));
    CSS.highlights?.set("found", new Highlight(...ranges));
    return ranges[0] || null;
  };

  foldline.unmark = () => CSS.highlights?.delete("found");

  // The words that led here.
  const asked = new URLSearchParams(location.search);
  foldline.mark(document.getElementById(location.hash.slice(1)), asked.get("here") || asked.get("find") || "");
}
