// The page that is there to be printed asks for it by itself.
"use strict";
addEventListener("load", () => print());
