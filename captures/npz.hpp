// Reads NumPy's formats. A .npy file (versions 1 to 3) has a magic string, a Python dict literal with type, order and
// shape, then raw elements; a .npz file is a zip archive of .npy entries, read through libzip. The input may be
// hostile: before memory is allocated, header, zip directory and file must agree on all sizes, and no size may exceed
// the compressed size times deflate's largest ratio (RFC 1951).
#pragma once

#include <filesystem>

#include <draftproof/captures/array.hpp>

namespace draftproof {

/// Reads a plain .npy file. Throws: InputError, also on big-endian, object and structured types and Fortran order.
Array read_npy(const std::filesystem::path& path);

/// Returns the arrays of the archive that `want` accepts, in archive order, with names without `.npy`. Throws:
/// InputError on a file that is not a zip archive, encrypted entries, repeated names, unsupported compression, checksum
/// errors, and everything that read_npy refuses.
NamedArrays read_npz(const std::filesystem::path& path, const WantArray& want);

}  // namespace draftproof
