// Changes the page into what the server sent and leaves alone what is equal: focus, selection and opened details stay.
"use strict";
{
  function copyAttributes(old, fresh) {
    for (const { name } of [...old.attributes]) {
      const isSameMessage = name === "data-long" && old.dataset.message === fresh.dataset.message;
      const isReaders = isSameMessage || (name === "open" && old.tagName === "DETAILS");
      if (!fresh.hasAttribute(name) && !isReaders) old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
  }

  function isSamePlace(old, fresh) {
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || old.id !== fresh.id) return false;
    return old.nodeType !== Node.ELEMENT_NODE || ["compaction", "tex"].every((key) => old.dataset[key] === fresh.dataset[key]);
  }

  function patchText(old, fresh) {
    // Adding keeps a selection that reaches into the text; replacing would drop it.
    if (fresh.data.startsWith(old.data)) old.appendData(fresh.data.slice(old.data.length));
    else old.data = fresh.data;
  }

  // What one types in a place that is kept is kept, also where the message it belongs to was changed elsewhere.
  function replace(old, fresh) {
    if ("keep" in (old.dataset || {}) && "keep" in (fresh.dataset || {})) fresh.append(...old.childNodes);
    old.replaceWith(fresh);
  }

  // What a template holds, the source that "Copy" copies, is none of its children: isEqualNode doesn't look into it.
  const held = (node) => [...(node.querySelectorAll?.("template") || []), node].map((each) => each.content?.textContent).join("\0");

  function patch(old, fresh) {
    if (old.isEqualNode(fresh) && held(old) === held(fresh)) return;
    if (old.nodeName === "TEMPLATE" || !isSamePlace(old, fresh)) replace(old, fresh);
    else if (old.nodeType !== Node.ELEMENT_NODE) patchText(old, fresh);
    else if (!("keep" in old.dataset)) {
      const typed = old.querySelector(":scope > [data-keep]:has(form)");
      if (typed && !fresh.querySelector(":scope > [data-keep]")) fresh.prepend(typed);
      copyAttributes(old, fresh);
      patchChildren(old, fresh);
    }
  }

  function patchChildren(old, fresh) {
    const nodes = [...fresh.childNodes];
    const stays = new Set(nodes.map((node) => node.id).filter(Boolean));
    nodes.forEach((node, index) => {
      // What has a name is found by it: something before it may have gone, or has come to stand behind it.
      const same = node.id && [...old.childNodes].slice(index).find((other) => other.id === node.id);
      while (same && old.childNodes[index] !== same) {
        const before = old.childNodes[index];
        if (before.id && stays.has(before.id)) old.insertBefore(same, before);
        else before.remove();
      }
      const there = old.childNodes[index];
      if (there) patch(there, node);
      else old.append(node);
    });
    [...old.childNodes].slice(nodes.length).forEach((node) => node.remove());
  }

  foldline.parse = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    foldline.setFormulas(template.content); // before it is compared with what is there
    return template.content;
  };

  // Puts one `hx-swap-oob` element of a bundle in its place. An article that is there already is never added twice.
  foldline.place = (piece) => {
    const [how, target] = piece.getAttribute("hx-swap-oob").split(":");
    const fresh = how === "innerHTML" ? piece : piece.firstElementChild;
    const there = document.getElementById(fresh.id);
    if (how === "innerHTML" && there) patchChildren(there, fresh);
    else if (there) patch(there, fresh);
    else if (how === "beforeend") document.querySelector(target).append(fresh);
    const placed = document.getElementById(fresh.id);
    if (placed) htmx.process(placed);
  };
  foldline.fill = (place, html) => {
    patchChildren(place, foldline.parse(html));
    htmx.process(place);
  };
  foldline.patchChildren = patchChildren;
}
