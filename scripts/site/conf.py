"""The settings of Sphinx for the site."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

project = "Perilune"
copyright = "the authors of Perilune"
language = "en"

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design", "lexers"]
source_suffix = {".md": "markdown"}
root_doc = "index"

myst_enable_extensions = ["colon_fence"]
# The articles are plain Markdown: a line that begins with %, +++ or (name)= is text.
myst_disable_syntax = ["myst_line_comment", "myst_block_break", "myst_target"]
myst_heading_anchors = 6
myst_heading_slug_func = "docc.slug"
myst_links_external_new_tab = True

highlight_language = "text"
pygments_style = "default"
pygments_dark_style = "github-dark"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_title = "Perilune"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_permalinks_icon = "#"
# The pages of scenarios and of types have headings of the third level only.
suppress_warnings = ["myst.header"]
# The summaries would be fetched from the pages, which browsers refuse for files.
html_show_search_summary = False
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#5b3fa8", "color-brand-content": "#5b3fa8"},
    "dark_css_variables": {"color-brand-primary": "#b9a3f5", "color-brand-content": "#b9a3f5"},
}
