// The service worker, which has a plain page ready for when the server is away (https or this machine only).
"use strict";
navigator.serviceWorker?.register(document.currentScript.dataset.worker).catch(() => {});
