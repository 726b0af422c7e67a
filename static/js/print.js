// The page that is there to be printed asks for it by itself, once its formulas are set.
"use strict";
{
  const PATIENCE = 5000;
  const MOMENT = 50;

  addEventListener("load", async () => {
    for (const link of document.querySelectorAll(".prose a[href^=http]")) {
      link.classList.toggle("bare", link.href.includes(link.textContent.trim()));
    }
    const end = performance.now() + PATIENCE;
    while (document.querySelector(".math:not([data-tex])") && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, MOMENT));
    }
    print();
  });
}
