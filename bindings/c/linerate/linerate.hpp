/* linerate.hpp: linerate.h for C++17. Errors become exceptions, owners free their handles, and
 * bytes are std::span where the standard library has it.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

#ifndef LINERATE_HPP
#define LINERATE_HPP

#include <linerate.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_span
#include <span>
#endif

namespace linerate {

/* An error of the library. what() is its message with the system's reason and the offset. */
class error : public std::runtime_error {
public:
	explicit error(const linerate_error &of) : std::runtime_error(text(of)), error_(of) {}
	std::int32_t kind() const noexcept { return error_.kind; }
	std::int32_t os() const noexcept { return error_.os; }
	std::uint64_t offset() const noexcept { return error_.offset; }

private:
	static std::string text(const linerate_error &of)
	{
		std::string out(linerate_error_text(of, nullptr, 0) + 1, '\0');
		linerate_error_text(of, &out[0], out.size());
		out.pop_back();
		return out;
	}
	linerate_error error_;
};

/* Throws an error unless its kind is LINERATE_OK. */
inline void check(const linerate_error &of)
{
	if (of.kind != LINERATE_OK)
		throw error(of);
}

#ifdef __cpp_lib_span
using bytes = std::span<const std::uint8_t>;
using buffer = std::span<std::uint8_t>;
#else
/* The part of std::span that this header needs, for standard libraries without std::span. */
template <class T> class view {
public:
	view(T *data, std::size_t size) : data_(data), size_(size) {}
	template <class Container> view(Container &&of) : data_(of.data()), size_(of.size()) {}
	T *data() const { return data_; }
	std::size_t size() const { return size_; }

private:
	T *data_;
	std::size_t size_;
};
using bytes = view<const std::uint8_t>;
using buffer = view<std::uint8_t>;
#endif

/* Returns the bytes of a text. */
inline bytes as_bytes(std::string_view text)
{
	return bytes(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
}

/* Owns a handle and frees it. A default owner has no handle, and its id is 0. Pass get() to any
 * function of linerate.h. */
template <class Handle, linerate_error (*Free)(Handle)> class owner {
public:
	owner() noexcept : handle_{0} {}
	explicit owner(Handle handle) noexcept : handle_(handle) {}
	owner(owner &&other) noexcept : handle_(std::exchange(other.handle_, Handle{0})) {}
	owner &operator=(owner &&other) noexcept
	{
		std::swap(handle_, other.handle_);
		return *this;
	}
	~owner() { Free(handle_); }
	Handle get() const noexcept { return handle_; }
	/* Returns the place for a new handle, after freeing the old one. */
	Handle *out() noexcept
	{
		Free(std::exchange(handle_, Handle{0}));
		return &handle_;
	}

private:
	Handle handle_;
};

using session = owner<linerate_session, linerate_session_free>;
using deflate_dictionary = owner<linerate_deflate_dictionary, linerate_deflate_dictionary_free>;
using controller = owner<linerate_controller, linerate_controller_free>;
using inflater = owner<linerate_inflater, linerate_inflater_free>;
using gzip = owner<linerate_gzip, linerate_gzip_free>;
using zstd_decoder = owner<linerate_zstd_decoder, linerate_zstd_decoder_free>;
using zstd_dictionary = owner<linerate_zstd_dictionary, linerate_zstd_dictionary_free>;
using store = owner<linerate_store, linerate_store_free>;
using block_decoder = owner<linerate_block_decoder, linerate_block_decoder_free>;
using gateway = owner<linerate_gateway, linerate_gateway_free>;

/* Working memory for engines, a sum of linerate_engine values. */
class scratch : public owner<linerate_scratch, linerate_scratch_free> {
public:
	explicit scratch(std::uint32_t engines) { check(linerate_scratch_new(engines, out())); }
};

/* A deflate stream, which holds 16 bytes and no handle. */
class deflater {
public:
	deflater(std::int32_t format, std::int32_t level) { check(linerate_deflater_init(&stream_, format, level)); }
	void set_level(std::int32_t level) { check(linerate_deflater_set_level(&stream_, level)); }
	/* This function and the next two return the number of bytes written to out. */
	std::size_t encode(const scratch &scratch, bytes input, buffer out, bool more = true)
	{
		std::size_t n;
		check(linerate_deflater_encode(&stream_, scratch.get(), input.data(), input.size(), out.data(), out.size(), more, &n));
		return n;
	}
	std::size_t flush(buffer out)
	{
		std::size_t n;
		check(linerate_deflater_flush(&stream_, out.data(), out.size(), &n));
		return n;
	}
	std::size_t finish(buffer out)
	{
		std::size_t n;
		check(linerate_deflater_finish(&stream_, out.data(), out.size(), &n));
		return n;
	}

private:
	linerate_deflater stream_;
};

/* Compresses input as one whole stream. */
inline std::vector<std::uint8_t> deflate(const scratch &scratch, std::int32_t format, std::int32_t level, bytes input)
{
	std::vector<std::uint8_t> out(linerate_deflate_bound(input.size()));
	std::size_t n;
	check(linerate_deflate(scratch.get(), format, level, input.data(), input.size(), out.data(), out.size(), &n));
	out.resize(n);
	return out;
}

/* Decodes the stream at the beginning of input. Allocates max_size bytes at once, and throws an
 * error if the content exceeds them. */
inline std::vector<std::uint8_t> inflate(const scratch &scratch, std::int32_t format, bytes input, std::size_t max_size)
{
	const linerate_inflate_options options = linerate_inflate_defaults(format);
	std::vector<std::uint8_t> out(max_size);
	linerate_progress done;
	check(linerate_inflate(scratch.get(), &options, nullptr, 0, input.data(), input.size(), out.data(), out.size(), &done));
	out.resize(done.written);
	return out;
}

/* Decodes all frames of input. Allocates max_size bytes at once, and throws an error if the
 * content of all frames together exceeds them. */
inline std::vector<std::uint8_t> decode_zstd(const scratch &scratch, bytes input, std::size_t max_size)
{
	const linerate_zstd_options options = linerate_zstd_defaults();
	std::vector<std::uint8_t> out(max_size);
	std::size_t n;
	check(linerate_zstd_decode(scratch.get(), &options, linerate_zstd_dictionary{0}, input.data(), input.size(), out.data(),
				   out.size(), &n));
	out.resize(n);
	return out;
}

/* An open Nx archive. Many threads may use the same object. */
class archive : public owner<linerate_archive, linerate_archive_free> {
public:
	explicit archive(const std::string &path)
	{
		const linerate_archive_options options = linerate_archive_defaults();
		check(linerate_archive_open(path.c_str(), &options, out()));
	}
	std::size_t size() const
	{
		std::size_t n;
		check(linerate_archive_count(get(), &n));
		return n;
	}
	linerate_archive_file file(std::size_t index) const
	{
		linerate_archive_file file;
		check(linerate_archive_get(get(), index, &file));
		return file;
	}
	std::string path(std::size_t index) const
	{
		std::string path(file(index).path_len + 1, '\0');
		check(linerate_archive_path(get(), index, &path[0], path.size()));
		path.pop_back();
		return path;
	}
	std::vector<std::uint8_t> read(std::string_view path) const
	{
		std::size_t index, n;
		check(linerate_archive_find(get(), path.data(), path.size(), &index));
		std::vector<std::uint8_t> content(file(index).size);
		check(linerate_archive_read(get(), index, content.data(), content.size(), &n));
		return content;
	}
};

/* Packs, updates and merges Nx archives. Callbacks may be empty. On Windows paths are UTF-8. An
 * exception of a callback cancels the work, and the function that does the work throws it again.
 * An existing target is then unchanged, and no callback is called again. */
class packer {
public:
	linerate_pack_options options = linerate_pack_defaults();
	std::function<bool(std::string_view path)> choose;
	std::function<bool(const linerate_pack_progress &)> on_progress;
	std::function<void(std::string_view path, const error &)> on_failure;

	linerate_pack_report pack(const std::vector<std::string> &folders, const std::string &target)
	{
		const auto from = pointers(folders);
		return run(linerate_archive_pack, from.data(), from.size(), target.c_str());
	}
	/* Without a target, replaces the archive itself. */
	linerate_pack_report update(const std::string &path, const std::vector<std::string> &folders,
				    const std::vector<std::string> &deleted = {}, const std::string *target = nullptr)
	{
		const auto from = pointers(folders), gone = pointers(deleted);
		return run(linerate_archive_update, path.c_str(), from.data(), from.size(), gone.data(), gone.size(),
			   target ? target->c_str() : nullptr);
	}
	linerate_pack_report merge(const std::vector<std::string> &archives, linerate_clash clash, const std::string &target)
	{
		const auto from = pointers(archives);
		return run(linerate_archive_merge, from.data(), from.size(), clash, target.c_str());
	}

private:
	static std::vector<const char *> pointers(const std::vector<std::string> &paths)
	{
		std::vector<const char *> out;
		for (const auto &path : paths)
			out.push_back(path.c_str());
		return out;
	}
	/* Runs a callback and returns whether the work goes on. Keeps an exception, which must
	 * not pass through the library. on_progress then returns 0, which cancels; the library
	 * calls it after choose and on_failure, before it touches the target. */
	template <class Call> static bool goes_on(void *self, Call &&call)
	{
		auto &of = *static_cast<packer *>(self);
		try {
			return !of.thrown_ && call(of);
		} catch (...) {
			of.thrown_ = std::current_exception();
			return false;
		}
	}
	template <class Function, class... Arguments> linerate_pack_report run(Function function, Arguments... arguments)
	{
		linerate_pack_options with = options;
		with.context = this;
		with.choose = [](void *self, const char *path, std::size_t len) -> std::int32_t {
			return goes_on(self, [&](packer &of) { return !of.choose || of.choose({path, len}); });
		};
		with.on_progress = [](void *self, const linerate_pack_progress *progress) -> std::int32_t {
			return goes_on(self, [&](packer &of) { return !of.on_progress || of.on_progress(*progress); });
		};
		with.on_failure = [](void *self, const char *path, std::size_t len, linerate_error why) {
			goes_on(self, [&](packer &of) { return !of.on_failure || (of.on_failure({path, len}, error(why)), true); });
		};
		linerate_pack_report report;
		const linerate_error result = function(arguments..., &with, &report);
		if (thrown_)
			std::rethrow_exception(std::exchange(thrown_, nullptr));
		check(result);
		return report;
	}
	std::exception_ptr thrown_;
};

} // namespace linerate

#endif
