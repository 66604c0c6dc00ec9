'use strict';

/**
 * Returns the names of the packages that may have the native part for this platform, the best one
 * first.
 */
function packages(platform = process.platform, arch = process.arch, isMusl = usesMusl) {
  if (platform === 'linux') {
    const libc = isMusl() ? ['musl', 'gnu'] : ['gnu', 'musl'];
    return libc.map((name) => `@linerate/linux-${arch}-${name}`);
  }
  if (platform === 'win32') return ['msvc', 'gnu'].map((name) => `@linerate/win32-${arch}-${name}`);
  return [`@linerate/${platform}-${arch}`];
}

/** Whether Node.js runs on musl: on glibc its report names the version of glibc. */
function usesMusl() {
  const { report } = process;
  if (typeof report?.getReport !== 'function') return false;
  // The report would look up the host names of open connections, which can take seconds.
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
