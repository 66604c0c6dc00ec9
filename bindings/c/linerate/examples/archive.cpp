// Reads one file of an Nx archive, compresses it as zlib, decompresses and writes it: c++ -std=c++17 archive.cpp -llinerate
#include <linerate.hpp>

#include <iostream>

int main(int argc, char **argv)
try {
	if (argc != 3)
		throw std::invalid_argument("usage: archive FILE PATH");
	const linerate::archive archive(argv[1]);
	const auto content = archive.read(argv[2]);

	const linerate::scratch scratch(LINERATE_ENGINE_DEFLATE | LINERATE_ENGINE_INFLATE);
	const auto packed = linerate::deflate(scratch, LINERATE_ZLIB, 6, content);
	const auto again = linerate::inflate(scratch, LINERATE_ZLIB, packed, content.size());
	std::cout.write(reinterpret_cast<const char *>(again.data()), static_cast<std::streamsize>(again.size()));
	return std::cout.flush() ? 0 : 1;
} catch (const std::exception &error) {
	std::cerr << error.what() << '\n';
	return 1;
}
