# The plugin inside RocksDB's own build, in its folder plugin/linerate: make ROCKSDB_PLUGINS=linerate.
# Cargo builds liblinerate_rocksdb_rust.a, which must be beside this file. RocksDB's CMake also reads
# this file, line by line.
linerate_SOURCES = linerate.cc
linerate_HEADERS = include/linerate/rocksdb.h
linerate_FUNC = linerate_rocksdb_register
linerate_CXXFLAGS = -Iplugin/linerate/include
linerate_LDFLAGS = -Lplugin/linerate -llinerate_rocksdb_rust -lpthread -ldl -lm
