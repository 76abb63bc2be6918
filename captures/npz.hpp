// The .npz format of NumPy: a zip archive of .npy entries, read and written through libzip. Sizes that zip
// directory and .npy header disagree on, sizes no deflate stream can reach, and repeated names are refused
// before any allocation.
#pragma once

#include <filesystem>

#include <draftproof/captures/array.hpp>

namespace draftproof {

/// The arrays of the archive that `want` accepts, in archive order, names without `.npy`. Throws InputError
/// on a file that is no zip, encrypted or exotically compressed entries, checksum faults, and everything
/// read_npy refuses.
NamedArrays read_npz(const std::filesystem::path& path, const WantArray& want);

enum class Compression { Stored, Deflated };

/// Writes `arrays` (any type but BF16) to `path`, replacing it. The bytes depend on the arrays only: entries
/// carry a fixed date. Throws InputError if the file cannot be written.
void write_npz(const std::filesystem::path& path, const NamedArrays& arrays,
               Compression compression = Compression::Deflated);

}  // namespace draftproof
