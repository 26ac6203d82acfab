// Draws the page that the data are of.
const DATA = JSON.parse(document.getElementById("data").textContent);
window.tilewright = DATA.kind === "model" ? new ModelPage(DATA) : new CodePage(DATA);  // for tools that drive the page
