// Writes the captures that the command-line cases read: one valid, the others each with one error. Row and token of
// an error are chosen so that a message cannot name them by coincidence.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <vector>


#include <draftproof/tests/support/hostile.hpp>
#include <draftproof/tests/support/written_capture.hpp>

namespace {

using namespace draftproof;

constexpr std::size_t positions = 5, vocabulary = 4;

/// Log-probabilities of rows (1 2 3 4) / 10 with the entry of `row` and `token` replaced by the logarithm `value`.
std::vector<float> rows(std::size_t row, std::size_t token, float value) {
  std::vector<float> values;
  for (std::size_t i = 0; i < positions; ++i)
    for (std::size_t x = 0; x < vocabulary; ++x)
      values.push_back(i == row && x == token ? value : std::log(static_cast<float>(x + 1) / 10));
  return values;
}
std::vector<float> rows() { return rows(positions, 0, 0); }

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_{std::move(path)} { std::filesystem::create_directories(path_); }

  void capture(const std::string& name, const std::vector<float>& target, const std::vector<float>& draft) const {
    write_npz(path_ / (name + ".npz"),
              {{"target", make_array<float>({positions, vocabulary}, std::span<const float>(target))},
               {"draft", make_array<float>({positions, vocabulary}, std::span<const float>(draft))}});
  }
  /// The same stored as probabilities, which the sidecar has to say.
  void probabilities(const std::string& name, std::vector<float> target, std::size_t at, float value) const {
    for (float& entry : target) entry = std::exp(entry);
    target[at] = value;
    capture(name, target, std::vector<float>(positions * vocabulary, 0.25f));
    bytes(name + ".json", R"({"values": "probability"})");
  }
  void bytes(const std::string& name, const std::string& content) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file << content;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + (path_ / name).string());
  }
  std::string content(const std::string& name) const { return hostile::read_all(path_ / name); }

 private:
  std::filesystem::path path_;
};

void write_all(const Folder& folder) {
  using hostile::npy, hostile::zip;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  folder.capture("good", rows(), rows());
  folder.capture("nan", rows(), rows(3, 2, nan));
  folder.capture("sum", rows(4, 1, std::log(0.5f)), rows());
  folder.probabilities("negative", rows(), 2 * vocabulary + 3, -0.4f);
  const std::string good = folder.content("good.npz");
  folder.bytes("truncated.npz", good.substr(0, good.size() / 2));
  folder.bytes("empty.npz", "");
  folder.bytes("text.npz", "target,draft\n0.5,0.5\n");
  // A header that promises more than the file holds, and one that asks for 2^62 numbers.
  const std::string four(4 * sizeof(float), '\0');
  const auto lying = [&](const std::string& shape) {
    return zip({{.name = "target.npy", .content = npy("<f4", shape, four)},
                {.name = "draft.npy", .content = npy("<f4", "(1, 4)", four)}});
  };
  folder.bytes("lying.npz", lying("(3, 4)"));
  folder.bytes("huge.npz", lying("(2147483648, 2147483648)"));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: draftproof_cli_files FOLDER");
    write_all(Folder(argv[1]));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
