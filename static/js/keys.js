// What a press or a click is meant for, asked in one way everywhere.
"use strict";
window.foldline = window.foldline || {};

// An input method is at work and the key is its own; Safari ends a composition before the key that ended it: code 229.
foldline.isComposing = (event) => event.isComposing || event.keyCode === 229;

// Not one that opens a link in a new tab or window.
foldline.isPlain = (event) => !(event.ctrlKey || event.metaKey || event.shiftKey);
