'use strict';

/** Names of the packages that may hold the native part for this platform, the most fitting first. */
function packages(platform = process.platform, arch = process.arch, isMusl = usesMusl) {
  if (platform === 'linux') {
    const libc = isMusl() ? ['musl', 'gnu'] : ['gnu', 'musl'];
    return libc.map((name) => `@linerate/linux-${arch}-${name}`);
  }
  if (platform === 'win32') return ['msvc', 'gnu'].map((name) => `@linerate/win32-${arch}-${name}`);
  return [`@linerate/${platform}-${arch}`];
}

/** Whether Node.js runs on musl: its report names the version of glibc where there is one. */
function usesMusl() {
  const { report } = process;
  if (typeof report?.getReport !== 'function') return false;
  // Looking up the names of open connections takes seconds.
  const before = report.excludeNetwork;
  report.excludeNetwork = true;
  try {
    const { header } = report.getReport();
    return header.glibcVersionRuntime === undefined;
  } finally {
    report.excludeNetwork = before;
  }
}

module.exports = { packages };
