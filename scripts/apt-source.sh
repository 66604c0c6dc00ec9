# apt-source.sh, to be sourced: fetches source packages of Debian or Ubuntu without changing the
# system's configuration.
#
# Downloads the source packages into FOLDER, from the same archives as the system's own packages.
# apt's lists are in FOLDER/apt.
get_sources() { # FOLDER PACKAGE...
  local folder=$1 state=$1/apt
  . /etc/os-release
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
  apt-get indextargets --format '$(LABEL) $(RELEASE) deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -nE "s/^(Debian|Ubuntu) ${VERSION_CODENAME:?} (deb-src)/\2/p" >"$state/sources.list"
  local options=(-qq -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State=$state"
    -o "Dir::State::status=/var/lib/dpkg/status" -o "Dir::Cache=$state/cache" -o APT::Get::List-Cleanup=0 -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update && (cd "$folder" && apt-get "${options[@]}" --download-only source "${@:2}")
}
