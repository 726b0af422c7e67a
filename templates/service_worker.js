// One thing only: where the server is away, a plain page says so. No page and no answer of the server is kept.
"use strict";
const KEPT = [{% for address in kept %}"{{ address|escapejs }}"{% if not forloop.last %}, {% endif %}{% endfor %}];
const CACHE = "foldline-offline-{{ version }}";
const AWAY = [502, 504]; // a proxy speaks for a server that is gone

addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(KEPT)).then(() => skipWaiting()));
});

addEventListener("activate", (event) => {
  const drop = (names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name)));
  event.waitUntil(caches.keys().then(drop).then(() => clients.claim()));
});

async function ask(request, instead) {
  try {
    const answer = await fetch(request);
    if (!AWAY.includes(answer.status)) return answer;
  } catch {
    // Said by the page that is shown instead.
  }
  return (await caches.match(instead)) || Response.error();
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const { pathname } = new URL(request.url);
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(ask(request, KEPT[0]));
  else if (KEPT.includes(pathname)) event.respondWith(ask(request, pathname));
});
