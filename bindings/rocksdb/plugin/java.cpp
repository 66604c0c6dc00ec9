// The native functions of dev.linerate.rocksdb.LinerateCompressionManager. This library is linked
// with neither RocksDB nor the plugin. The virtual machine loads RocksDB where no other library
// sees its symbols, so this library first makes them visible, and then loads the plugin.

#include <dlfcn.h>
#include <jni.h>
#include <linerate/rocksdb.h>
#include <rocksdb/options.h>

namespace {

// Functions of the plugin, null until it is loaded.
bool (*use)(rocksdb::ColumnFamilyOptions*) = nullptr;
linerate::Counters (*counters)() = nullptr;

jstring Message(JNIEnv* java, const char* text) { return java->NewStringUTF(text ? text : "no reason was given"); }

// A path, in the form that the virtual machine itself passes to dlopen.
struct Path {
  Path(JNIEnv* java, jstring string) : java_(java), string_(string), text(java->GetStringUTFChars(string, nullptr)) {}
  ~Path() {
    if (text) java_->ReleaseStringUTFChars(string_, text);
  }
  JNIEnv* java_;
  jstring string_;
  const char* text;
};

}  // namespace

extern "C" {

// Loads the plugin. Returns null on success, or with an exception pending, and otherwise the reason
// that the plugin was not loaded.
JNIEXPORT jstring JNICALL Java_dev_linerate_rocksdb_LinerateCompressionManager_load0(JNIEnv* java, jclass, jstring rocksdb,
                                                                                    jstring plugin) {
  const Path rocksdb_path(java, rocksdb), plugin_path(java, plugin);
  if (!rocksdb_path.text || !plugin_path.text) return nullptr;  // an exception is pending
  // RocksDB is loaded already. After this call, libraries that are loaded later see its symbols.
  if (!dlopen(rocksdb_path.text, RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL)) return Message(java, dlerror());
  void* loaded = dlopen(plugin_path.text, RTLD_NOW | RTLD_LOCAL);
  if (!loaded) return Message(java, dlerror());
  use = reinterpret_cast<decltype(use)>(dlsym(loaded, "linerate_rocksdb_use"));
  counters = reinterpret_cast<decltype(counters)>(dlsym(loaded, "linerate_rocksdb_counters"));
  return use && counters ? nullptr : Message(java, "it lacks a function");
}

JNIEXPORT jboolean JNICALL Java_dev_linerate_rocksdb_LinerateCompressionManager_useInOptions(JNIEnv*, jclass, jlong options) {
  return use(reinterpret_cast<rocksdb::Options*>(options));
}

JNIEXPORT jboolean JNICALL Java_dev_linerate_rocksdb_LinerateCompressionManager_useInFamily(JNIEnv*, jclass, jlong options) {
  return use(reinterpret_cast<rocksdb::ColumnFamilyOptions*>(options));
}

JNIEXPORT void JNICALL Java_dev_linerate_rocksdb_LinerateCompressionManager_counters0(JNIEnv* java, jclass, jlongArray out) {
  const linerate::Counters now = counters();
  const jlong values[] = {static_cast<jlong>(now.dictionaries), static_cast<jlong>(now.zstd_blocks),
                          static_cast<jlong>(now.zlib_blocks), static_cast<jlong>(now.refused)};
  java->SetLongArrayRegion(out, 0, 4, values);
}
}
