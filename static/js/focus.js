// The focus never falls to the page itself: where what had it is gone, it goes to what is nearest.
"use strict";
{
  const REACHABLE = "a[href], button:not(:disabled), summary, textarea, select, input:not([type=hidden])";
  // What had the focus last and the names of what it lay in; the same of what had it before a dialog took it.
  let [last, around, opener, before] = [null, [], null, []];

  const names = (place) => (place ? [place.id, ...names(place.parentElement)] : []);
  const isSeen = (place) => place.isConnected && place.checkVisibility({ visibilityProperty: true });

  // Also at a click, as a press beside everything is a person's own way to have no focus.
  function remember() {
    const now = document.activeElement;
    if (now === document.body) return void (last = null);
    if (!now.closest("dialog")) [opener, before] = [null, []];
    else if (!last?.closest("dialog")) [opener, before] = [last, around];
    [last, around] = [now, names(now).filter(Boolean)];
  }

  function nearest() {
    for (const place of [last, opener]) {
      const menu = place?.closest("details:not([open])")?.querySelector("summary"); // it closed over what was pressed
      if (menu && isSeen(menu)) return menu;
    }
    for (const id of [...around, ...before]) {
      const place = document.getElementById(id);
      const found = place && [place, ...place.querySelectorAll(REACHABLE)].find((each) => each.matches(REACHABLE) && isSeen(each));
      if (found && !["live", "sidebar", "scroll"].includes(id)) return found;
    }
    return document.getElementById("text");
  }

  function keep() {
    if (!last || (document.activeElement !== document.body && isSeen(document.activeElement))) return;
    (isSeen(last) ? last : nearest()).focus({ preventScroll: true });
  }

  document.addEventListener("focusin", remember);
  document.addEventListener("click", remember, true);
  new MutationObserver(keep).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ["hidden", "open", "disabled", "inert"],
  });
}
