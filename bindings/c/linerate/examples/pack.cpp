// Packs a folder and prints the progress; an exception can stop it halfway: c++ -std=c++17 pack.cpp -llinerate
#include <linerate.hpp>

#include <iostream>

int main(int argc, char **argv)
try {
	if (argc < 3)
		throw std::invalid_argument("usage: pack TARGET FOLDER [cancel]");
	linerate::packer packer;
	packer.options.threads = 2;
	packer.choose = [](std::string_view path) { return path != "old.bak"; };
	packer.on_progress = [=](const linerate_pack_progress &done) {
		std::cerr << '\r' << done.bytes << " of " << done.total_bytes << " bytes";
		if (argc > 3 && done.bytes > done.total_bytes / 2)
			throw std::runtime_error("enough");
		return true;
	};
	packer.on_failure = [](std::string_view path, const linerate::error &why) { std::cout << path << ": " << why.what() << '\n'; };
	std::cout << packer.pack({argv[2]}, argv[1]).files << " files\n";
	return 0;
} catch (const std::exception &error) {
	std::cerr << '\n' << error.what() << '\n';
	return 1;
}
