// The style of plots: colours as custom properties with a light and a dark value, and the classes that use them.
//
// The colours of series are Okabe and Ito's order, darkened for a white ground and lightened for a dark one. Markers,
// labels and symbols carry the same distinction.
#pragma once

#include <string>
#include <string_view>

namespace draftproof::plots {

/// The custom properties for the elements that `selector` names: light, dark where the reader prefers it, light on paper.
std::string colour_style(std::string_view selector);

/// The rules of the classes in plots.
std::string plot_style();

}  // namespace draftproof::plots
