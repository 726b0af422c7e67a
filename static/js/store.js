// What this browser keeps of what somebody typed: under that person's name, and gone when they sign out.
"use strict";
window.foldline = window.foldline || {};
{
  const person = document.getElementById("composer")?.dataset.person;
  const MINE = `foldline:typed:${person}:`;
  const OURS = /^foldline:(typed|draft|edit):/;

  // Storage may be full or forbidden; what is typed is still in its box.
  function quietly(work) {
    try {
      return work();
    } catch {
      return null;
    }
  }

  const forget = (isKept) => quietly(() => Object.keys(localStorage).forEach((key) => {
    if (OURS.test(key) && !isKept(key)) localStorage.removeItem(key);
  }));

  foldline.store = {
    get: (name) => quietly(() => JSON.parse(localStorage.getItem(MINE + name))),
    set: (name, value) => quietly(() => localStorage.setItem(MINE + name, JSON.stringify(value))),
    remove: (name) => quietly(() => localStorage.removeItem(MINE + name)),
  };

  // Somebody else's who was here before, and whose session ended by itself.
  if (person) forget((key) => key.startsWith(MINE));
  document.addEventListener("submit", ({ target }) => {
    if (target.action.includes("/logout/")) forget(() => false);
  });
}
