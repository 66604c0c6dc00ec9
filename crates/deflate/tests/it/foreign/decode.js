// Decodes each NAME.gz of a folder and compares it with the file `plain`. A name that begins with w
// and two digits gives the window that must be enough.
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

const folder = process.argv[2];
const names = fs.readdirSync(folder).filter((name) => name.endsWith('.gz'));
const wanted = fs.readFileSync(path.join(folder, 'plain'));
for (const name of names) {
  const packed = fs.readFileSync(path.join(folder, name));
  const window = /^w(\d\d)/.exec(name);
  const windowBits = window ? Math.max(9, Number(window[1])) : 15;
  // Output comes in small pieces, so that matches are copied from the window.
  if (!zlib.gunzipSync(packed, { windowBits, chunkSize: 64 }).equals(wanted)) {
    console.log(name);
    process.exit(1);
  }
}
console.log(names.length);
