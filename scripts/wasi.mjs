// wasi.mjs PROGRAM ARGUMENT...: runs a WebAssembly program with the files and the environment of this process.
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [program, ...args] = process.argv.slice(2);
const preopens = { '/': '/' };
const wasi = new WASI({ version: 'preview1', args: [program, ...args], env: process.env, preopens });
const module = await WebAssembly.compile(await readFile(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
