# Linerate. `make help` lists the targets; scripts/ has commands that are too long for a recipe.
# STRICT=1 turns every skipped part into a failure.

CARGO ?= cargo
STRICT ?= 0
CORPUS ?= crates/bench/corpus
RECORD ?= target/bench.jsonl
DATA ?= json,text
PLOTS ?= target/plots
BENCH = $(CARGO) run --release --locked --package linerate-bench
FLAGS ?=
# For bench-servers: libraries to load in place of zlib, each as NAME=FILE. For install-c: the names
# of the libraries to install.
LIBRARIES ?=
# For bench-gpu: a folder with the programs that `scripts/bench-gpu.sh --build FOLDER` has built.
PROGRAMS ?=
PREFIX ?= /usr/local
DESTDIR ?=
OUT ?= dist
KINDS ?=
DIST = $(or $(CARGO_TARGET_DIR),target)/dist
SECONDS_PER_TARGET ?= 60
SOAK_SECONDS ?= 600
HDF5_PLUGINS ?= target/hdf5-plugins
# Adds the folder where rustup puts Rust to PATH, if the Rust in PATH is too old. This is left out
# on Windows, where make cannot read the PATH that bash prints.
ifneq ($(OS),Windows_NT)
export PATH := $(shell bash -c '. scripts/rust.sh && echo "$$PATH"')
endif
export CARGO STRICT

.PHONY: help demo docs test test-rust test-scalar test-nostd test-cli test-hdl test-hdf5 test-python test-java test-node test-cuda test-fuzz test-msrv lint bench bench-all bench-dict bench-frames bench-gateway bench-gateway-java bench-gateway-jda bench-gateway-memory bench-gateway-node bench-gateway-start-up bench-gpu bench-hdl bench-inflate bench-netty bench-nx bench-rocksdb bench-servers bench-sst bench-waveforms plots fuzz assure hdf5-plugins rocksdb-plugin setup soak-java npm program dist dist-check install uninstall install-c uninstall-c

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Five engines do their main jobs beside a peer, then a plan for this machine: target/demo-report.html
	@scripts/setup.sh rust cc
	@$(CARGO) run --quiet --profile demo --locked --package linerate-bench --no-default-features --features demo --bin demo

docs: ## Build the site of docs/ in target/site, with mdbook
	@scripts/setup.sh rust mdbook
	@PATH="$$PATH:$${CARGO_HOME:-$$HOME/.cargo}/bin" scripts/docs.sh target/site

test: ## All test parts below and lint; installs what it needs on Debian as root
	@scripts/test.sh format rust scalar nostd hdl hdf5 python java node cuda fuzz lint msrv

test-rust: ## Unit, integration and documentation tests
	@scripts/test.sh rust

test-scalar: ## Tests of the crates with code per CPU tier on the portable form (LINERATE_CPU=scalar)
	@scripts/test.sh scalar

test-nostd: ## core, deflate, inflate, rice and zstd without std; the readers of nx and dict without C
	@scripts/test.sh nostd

test-cli: ## Only the tests of the command line
	@scripts/test.sh cli

test-hdl: ## The FPGA cores of accel/hdl: lint, simulation with vectors of linerate-rice, proofs
	@scripts/test.sh hdl

bench-hdl: CSV = target/bench-hdl.csv
bench-hdl: ## Synthesize, place and route the FPGA cores for iCE40 and ECP5: resources and Fmax in CSV=file
	@scripts/setup.sh python3 pnr
	PATH="$$PWD/target/venv-hdl/bin:$$PATH" python3 accel/hdl/syn/record.py "$(CSV)" $(FLAGS)

test-hdf5: ## The HDF5 plugins in h5py, h5dump and h5repack
	@scripts/test.sh hdf5

test-python: ## The Python package, installed into target/venv
	@scripts/test.sh python

test-java: ## The Java modules on the default JDK; native access on 25, where there is one
	@scripts/test.sh java

test-node: ## The npm packages; discord.js against the gateway for tests
	@scripts/test.sh node

test-cuda: ## The CUDA kernels on the CPU, with g++ and its sanitizers; their PTX compiled again
	@scripts/test.sh cuda

test-fuzz: ## A bounded run of every fuzz target with the ordinary compiler
	@scripts/test.sh fuzz

test-msrv: ## Compile everything with the minimum supported Rust version, where rustup has it
	@scripts/test.sh msrv

lint: ## Formatting, clippy and documentation without a warning
	@scripts/test.sh format lint

bench: ## Measure against all peers: make bench CORPUS=dir RECORD=file FLAGS="--chunk 16K"
	@scripts/setup.sh rust cc peers
	$(BENCH) --features peers,system-peers -- bytes --corpus "$(CORPUS)" --record "$(RECORD)" $(FLAGS)

bench-nx: ## Measure Nx archives against libzstd, unsquashfs, tar, unzip and 7z: CORPUS=dir RECORD=file FLAGS=...
	@scripts/setup.sh rust cc
	@scripts/setup.sh archivers || echo "missing archivers are left out"
	$(CARGO) build --release --locked --package linerate
	$(BENCH) --features peers -- archives --corpus "$(CORPUS)" --record "$(RECORD)" $(FLAGS)

bench-inflate: ## Decode deflate data beside zlib-rs, zlib-ng, zlib, libdeflate and ISA-L: CORPUS=dir RECORD=file FLAGS="--chunk whole"
	@scripts/setup.sh rust cc peers
	$(BENCH) --features peers,system-peers -- inflate --corpus "$(CORPUS)" --record "$(RECORD)" $(FLAGS)

bench-frames: ## Decode zstd frames beside libzstd and ruzstd: CORPUS=dir RECORD=file FLAGS="--case 4K+8K"
	@scripts/setup.sh rust cc
	$(BENCH) --features peers -- frames --corpus "$(CORPUS)" --record "$(RECORD)" $(FLAGS)

bench-dict: ## Decode through 1,245 to 30,000 dictionaries beside libzstd: DATA=json,text RECORD=file FLAGS="--quick"
	@scripts/setup.sh rust cc
	$(BENCH) -- cold --data "$(DATA)" --record "$(RECORD)" $(FLAGS)

bench-gateway: DATA =
bench-gateway: ## Decode gateway connections beside zlib-rs, zlib, zlib-ng and libzstd: DATA=dir RECORD=file FLAGS="--quick"
	@scripts/setup.sh rust cc peers
	$(BENCH) --features peers,system-peers -- messages --record "$(RECORD)" $(FLAGS) $(DATA)

bench-sst: ## Read rows of 2,048 SST files, each with its dictionary, beside RocksDB: RECORD=file FLAGS="--rounds 3"
	@scripts/setup.sh rust cc rocksdb
	$(BENCH) -- sst --record "$(RECORD)" $(FLAGS)

bench-all: OUT = target/records
bench-all: ## All shapes of linerate-bench into OUT=dir, and a list of what could not be measured: FLAGS="--quick"
	@scripts/setup.sh rust cc
	$(CARGO) build --release --locked --package linerate
	$(BENCH) --features peers -- remake --out "$(OUT)" $(FLAGS)

bench-rocksdb: DATA = target/rocksdb-databases
bench-rocksdb: ## Get, MultiGet and iterators in RocksDB with and without the plugin, as JSON Lines: DATA=dir FLAGS="--quick --files 5000"
	@scripts/bench-rocksdb.sh "$(DATA)" $(FLAGS)

bench-servers: ## nginx, Apache and HAProxy with zlib, SLZ and our encoder, as JSON Lines: LIBRARIES="zlib-ng=libz.so.1" FLAGS="--seconds 3"
	@scripts/bench-servers.sh "$(LIBRARIES)" $(FLAGS)

bench-waveforms: CORPUS =
bench-waveforms: ## Delta-Rice beside other codecs, through HDF5 and in memory, as JSON Lines: CORPUS=dir FLAGS=...
	@scripts/bench-waveforms.sh "$(CORPUS)" $(FLAGS)

bench-gpu: ## Delta-Rice on an NVIDIA GPU: its tests, then RAM, VRAM and files, and kernels beside nvCOMP, as JSON Lines: FLAGS="--chunks 2000,100x200 --rounds 3" PROGRAMS=built
	@scripts/bench-gpu.sh "$(PROGRAMS)" $(FLAGS)

bench-gateway-java: DATA =
bench-gateway-java: ## Java binding of the gateway beside the JDK and zstd-jni, as JSON Lines: DATA=dir FLAGS="--rounds 5"
	@scripts/bench-gateway-java.sh messages "$(DATA)" $(FLAGS)

bench-gateway-jda: DATA =
bench-gateway-jda: ## JDA from end to end, with its own decompressor and with ours, as JSON Lines: DATA=dir FLAGS="--rounds 3"
	@scripts/bench-gateway-java.sh jda "$(DATA)" $(FLAGS)

bench-gateway-start-up: DATA =
bench-gateway-start-up: ## The start of ten connections, parsed by JDA's DataObject, as JSON Lines: DATA=dir FLAGS="--rounds 5"
	@scripts/bench-gateway-java.sh start-up "$(DATA)" $(FLAGS)

bench-gateway-memory: DATA =
bench-gateway-memory: ## Memory of 2,500 connections in Java, as JSON Lines: DATA=dir FLAGS="--connections 1000"
	@scripts/bench-gateway-java.sh memory "$(DATA)" $(FLAGS)

bench-gateway-node: DATA =
bench-gateway-node: ## npm package beside zlib-sync, node:zlib and fzstd, as JSON Lines: DATA=dir FLAGS="--rounds 9"
	@scripts/bench-gateway-node.sh "$(DATA)" $(FLAGS)

bench-netty: DATA =
bench-netty: ## permessage-deflate in Netty beside Netty's own, as JSON Lines: DATA=dir FLAGS="--rounds 3"
	@scripts/bench-gateway-java.sh netty "$(DATA)" $(FLAGS)

assure: CSV = target/assure.csv
assure: PARTS = defaults matrix zstd-corpus websocket-peers rocksdb haproxy zlib-suites miri loom tsan damage mutants sanitizers foreign dist java25 node18 zarr labs soak fuzz report packages deny spelling hdl-long pnr repack decoding-study large-folders
assure: SECONDS_PER_TARGET = 300
assure: SOAK_SECONDS = 300
assure: ## Long checks before a release, some hours (scripts/test.sh lists them): CSV=file PARTS="miri loom"
	@SECONDS_PER_TARGET=$(SECONDS_PER_TARGET) SOAK_SECONDS=$(SOAK_SECONDS) scripts/assure.sh "$(CSV)" $(PARTS)

soak-java: ## Large messages in a small Java heap under three collectors, SOAK_SECONDS each
	@scripts/setup.sh rust java
	mvn -q -ntp -f bindings/java/pom.xml -pl gateway -Dtest=SmallHeapTest -Dlinerate.soak.seconds=$(SOAK_SECONDS) test

plots: ## Draw RECORD=file as SVG files in PLOTS=dir: FLAGS="--x ratio --y speed"
	$(BENCH) -- chart "$(RECORD)" --out "$(PLOTS)" $(FLAGS)

fuzz: ## cargo-fuzz where it is installed, else a longer bounded run
	@scripts/fuzz.sh $(SECONDS_PER_TARGET)

setup: ## Install Rust, a C compiler and gzip, or say how to get them; other targets install more
	@scripts/setup.sh rust cc gzip

program: ## Build the program as `make install` installs it: target/dist/linerate
	@scripts/setup.sh rust cc
	$(CARGO) build --profile dist --locked --package linerate

npm: ## The npm packages for this machine, into target/npm
	@scripts/setup.sh rust cc node
	@scripts/dist-npm.sh target --host

dist: ## Packages of a release for every platform that can be linked here: make dist OUT=dist KINDS="archive deb wheels jars npm"
	@scripts/dist.sh "$(OUT)" $(KINDS)

dist-check: ## Install each package of `make dist` in an empty environment, and run an example of its page; follow the README's install table: OUT=dist KINDS="rows wheels" ROWS=words CSV=file
	@scripts/dist.sh --check "$(OUT)" $(KINDS)

install: $(if $(BINARY),,program) ## Program, manual pages, completions, licences: make install PREFIX=/usr/local DESTDIR= BINARY=built
	@DESTDIR="$(DESTDIR)" scripts/install.sh "$(or $(BINARY),$(DIST)/linerate)" "$(PREFIX)"

uninstall: ## Remove what `make install` installed: PREFIX=/usr/local DESTDIR=
	@DESTDIR="$(DESTDIR)" scripts/install.sh --remove "$(PREFIX)"

install-c uninstall-c: LIBRARIES = linerate
install-c: ## The C library, or those of LIBRARIES="linerate slz z", with headers, pkg-config and CMake files: make install-c PREFIX=/usr/local DESTDIR=
	@scripts/setup.sh rust cc
	$(CARGO) build --profile dist --locked $(patsubst %,--package linerate-%,$(patsubst linerate,c,$(LIBRARIES)))
	@DESTDIR="$(DESTDIR)" scripts/install-c.sh "$(DIST)" "$(PREFIX)" $(LIBRARIES)

uninstall-c: ## Remove what `make install-c` with these LIBRARIES installed: PREFIX=/usr/local DESTDIR=
	@DESTDIR="$(DESTDIR)" scripts/install-c.sh --remove "$(PREFIX)" $(LIBRARIES)

rocksdb-plugin: ## The plugin for RocksDB and its header: make rocksdb-plugin PREFIX=/usr/local ROCKSDB_INCLUDE=headers
	@scripts/setup.sh rust cxx
	@scripts/rocksdb-plugin.sh "$(DESTDIR)$(PREFIX)/lib"
	@mkdir -p "$(DESTDIR)$(PREFIX)/include/linerate"
	@cp bindings/rocksdb/plugin/include/linerate/rocksdb.h "$(DESTDIR)$(PREFIX)/include/linerate/"

hdf5-plugins: ## Build the HDF5 plugins: make hdf5-plugins HDF5_PLUGINS=dir
	@scripts/setup.sh rust
	@scripts/hdf5-plugins.sh "$(HDF5_PLUGINS)"
