// The elements of a plot: SVG as text, with colours by class.
//
//   c0 .. c6   colours of series, safe for the colour-blind; each has a light and a dark value (style.hpp)
//   width      of a text: an upper bound from its code points, since the font of a reader is not known
//
// All coordinates are pixels of the view box. Equal arguments give equal bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace draftproof::plots {

enum class Anchor { start, middle, end };

inline constexpr double text_size = 11, title_size = 13;
inline constexpr std::size_t colours = 7, shapes = 6;

/// `text` for the content or an attribute of XML and HTML. A control character becomes U+FFFD.
std::string escaped(std::string_view text);

/// An upper bound of the width of `text` in pixels; `mono`: in the font of names and numbers.
double text_width(std::string_view text, double size = text_size, bool mono = false);

/// The longest beginning of `text` of at most `width` pixels, with an ellipsis if it was cut.
std::string fitted(std::string_view text, double width, double size = text_size, bool mono = false);

/// `text` broken at spaces into lines of at most `width` pixels. A word that is too long is cut.
std::vector<std::string> wrapped(std::string_view text, double width, double size = text_size);

/// A text; `classes` as in the style, for example "mono faint".
std::string text_at(double x, double y, std::string_view text, Anchor anchor, std::string_view classes = {});

std::string line_at(double x1, double y1, double x2, double y2, std::string_view classes);

std::string rect_at(double x, double y, double width, double height, std::string_view classes,
                    std::string_view title = {});

/// One of `shapes` shapes around a point, in colour `index`. `title` is shown by a browser under the pointer.
std::string marker_at(double x, double y, std::size_t index, std::string_view title = {});

/// The lines of a title from the top left corner; `bottom` receives the y coordinate below them.
std::string title_lines(std::string_view title, double width, double& bottom);

/// A picture of its own inside a page: the element with its name for screen readers. The page has the style.
std::string picture(double width, double height, std::string_view title, std::string_view body);

/// `picture` as a file: with namespace, size, style and a ground.
std::string svg_file(std::string picture, double width, double height);

}  // namespace draftproof::plots
