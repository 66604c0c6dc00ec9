# For microsoft/vcpkg, as ports/linerate; before that, --overlay-ports=packaging/vcpkg. vcpkg has no
# Rust: the port takes cargo 1.89 or newer from the machine. It does not install the drop-ins for
# libslz and zlib, whose files have the names of those libraries.
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)
set(VCPKG_BUILD_TYPE release)

# Fill in URL, the address of the sources, and REF, the commit of the release's tag.
vcpkg_from_git(
  OUT_SOURCE_PATH SOURCE_PATH
  URL ""
  REF 0000000000000000000000000000000000000000
)

find_program(CARGO cargo PATHS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin" REQUIRED)
set(built "${CURRENT_BUILDTREES_DIR}/${TARGET_TRIPLET}-rel")
vcpkg_execute_required_process(
  COMMAND "${CMAKE_COMMAND}" -E env "CARGO_TARGET_DIR=${built}"
    "${CARGO}" build --profile dist --locked --package linerate-c
  WORKING_DIRECTORY "${SOURCE_PATH}"
  LOGNAME "build-${TARGET_TRIPLET}"
)
vcpkg_execute_required_process(
  COMMAND bash scripts/install-c.sh "${built}/dist" "${CURRENT_PACKAGES_DIR}" linerate
  WORKING_DIRECTORY "${SOURCE_PATH}"
  LOGNAME "install-${TARGET_TRIPLET}"
)

# vcpkg wants these files in share/linerate. It is one folder less deep than lib/cmake/linerate, so
# the path to the prefix in the file is shortened by one folder.
file(RENAME "${CURRENT_PACKAGES_DIR}/lib/cmake/linerate" "${CURRENT_PACKAGES_DIR}/share/linerate")
vcpkg_replace_string("${CURRENT_PACKAGES_DIR}/share/linerate/linerate-config.cmake" "/../../.." "/../..")
vcpkg_fixup_pkgconfig()
file(GLOB licences "${CURRENT_PACKAGES_DIR}/share/doc/linerate-c/*")
vcpkg_install_copyright(FILE_LIST ${licences})
file(REMOVE_RECURSE
  "${CURRENT_PACKAGES_DIR}/lib/cmake"
  "${CURRENT_PACKAGES_DIR}/lib/liblinerate.a"
  "${CURRENT_PACKAGES_DIR}/share/doc"
)
