// The .npz format of NumPy: a zip archive of .npy entries, read and written through libzip. Before allocation the
// reader refuses sizes on which zip directory and .npy header disagree, sizes that no deflate stream reaches, and
// repeated names.
#pragma once

#include <filesystem>

#include <draftproof/captures/array.hpp>

namespace draftproof {

/// The arrays of the archive that `want` accepts, in archive order, with names without `.npy`. Throws: InputError on
/// a file that is not a zip archive, encrypted entries, unsupported compression, checksum errors, and everything that
/// read_npy refuses.
NamedArrays read_npz(const std::filesystem::path& path, const WantArray& want);

enum class Compression { Stored, Deflated };

/// Writes `arrays` (any type except BF16) to `path`, replacing the file. The bytes depend on the arrays only: entries
/// have a fixed date. Throws: InputError if the file cannot be written.
void write_npz(const std::filesystem::path& path, const NamedArrays& arrays,
               Compression compression = Compression::Deflated);

}  // namespace draftproof
