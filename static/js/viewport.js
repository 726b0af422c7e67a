// Where a keyboard lies over the page instead of making it smaller (iOS), the page ends above it.
"use strict";
{
  const seen = window.visualViewport;
  seen?.addEventListener("resize", () => {
    if (seen.scale > 1.01) return; // the reader has made it larger
    document.documentElement.style.setProperty("--seen-height", `${seen.height}px`);
    scrollTo(0, 0);
  });
}
