// What `redlock bench` tells, as a page that needs no other file and no script.
#include "base/text/printable.h"
#include "coordinator/bench/bench_figures.h"
#include "coordinator/bench/bench_words.h"
#include "coordinator/bench/page/bench_page_frame.h"

#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// Of names and of nodes' own words, nothing looks like markup.
std::string html(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      safe += c;
    }
  }
  return safe;
}

// On a page there is the sign for it.
std::string with_micro_sign(std::string text) {
  constexpr std::string_view kUs = " us";
  for (std::size_t at = text.find(kUs); at != std::string::npos; at = text.find(kUs, at)) {
    text.replace(at, kUs.size(), " µs");
  }
  return text;
}

std::string time_cell(const LatencyHistogram& latency, double share) {
  return with_micro_sign(short_time(latency, share));
}

std::string header(const BenchFigures& figures) {
  std::string text = fmt::format(
      "<header>\n<h1>redlock bench</h1>\n<p class=\"soft\">{}</p>\n</header>\n<main>\n"
      "<p class=\"headline\" id=\"headline\">{}</p>\n<p>{}</p>\n<p class=\"soft\">{}</p>\n",
      what_was_done(figures), pace(figures), with_micro_sign(pace_details(figures)),
      second_rounds(figures));
  for (const auto& [name, operation] :
       {std::pair{"acquire", &figures.acquire}, std::pair{"release", &figures.release}}) {
    if (operation->failed.empty()) continue;
    text +=
        fmt::format("<p class=\"bad\">{} failed: {}</p>\n", name, html(counted(operation->failed)));
  }
  return text;
}

// The columns that a telephone has no room for are left out there.
std::string latency_table(const BenchFigures& figures) {
  std::string text =
      "<h2>How long it took</h2>\n<table class=\"figures\" id=\"latencies\">\n"
      "<thead><tr><th></th><th class=\"number extra\">count</th><th class=\"number\">p50</th>"
      "<th class=\"number extra\">p90</th><th class=\"number\">p99</th>"
      "<th class=\"number extra\">p99.9</th><th class=\"number\">max</th></tr></thead>\n<tbody>\n";
  for (const auto& [name, latency] :
       {std::pair{"acquire", &figures.acquire.latency},
        std::pair{"release", &figures.release.latency}, std::pair{"both", &figures.pair}}) {
    text += fmt::format("<tr><td>{}</td><td class=\"number extra\">{}</td>", name,
                        grouped(latency->count()));
    for (const double share : kToldShares) {
      const bool is_extra = share == 0.9 || share == 0.999;
      text += fmt::format("<td class=\"number{}\">{}</td>", is_extra ? " extra" : "",
                          time_cell(*latency, share));
    }
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table>\n";
}

std::string picture(std::string_view name, const LatencyHistogram& latency) {
  const std::vector<ShownBar> bars = shown_bars(latency);
  const double largest = largest_share(bars);
  std::string text = fmt::format(
      "<section>\n<h2>{} <small>{}, by how long they took</small></h2>\n"
      "<table class=\"picture\">\n<tbody>\n",
      name, grouped(latency.count()));
  for (const ShownBar& bar : bars) {
    text += fmt::format("<tr{}><th>{}</th><td class=\"bar\">", bar.is_rest ? " class=\"rest\"" : "",
                        with_micro_sign(bar.words));
    if (bar.share > 0) {
      text += fmt::format("<div style=\"width:{:.2f}%\"></div>", 100 * bar.share / largest);
    }
    text += fmt::format("</td><td class=\"number\">{:.2f} %</td></tr>\n", 100 * bar.share);
  }
  return text + "</tbody>\n</table>\n</section>\n";
}

std::string node_row(const NodeFigures& node) {
  const LatencyHistogram& trip = node.round_trip;
  const std::string missed = counted(node.missed);
  return fmt::format(
      "<tr><td class=\"name\">{}</td><td class=\"number\">{}</td>"
      "<td class=\"number\">{}</td><td class=\"number extra\">{}</td>"
      "<td class=\"number extra\">{} of {}</td><td class=\"state\">{}{}</td></tr>\n",
      html(node.node), time_cell(trip, 0.5), time_cell(trip, 0.99), time_cell(trip, 1),
      trip.count(), node.asked, html(node.state),
      missed.empty() ? ""
                     : fmt::format(" <span class=\"bad\">(failures: {})</span>", html(missed)));
}

std::string node_table(const std::vector<NodeFigures>& nodes) {
  std::string text =
      "<h2>Nodes <small>asked among the load</small></h2>\n<table id=\"nodes\">\n<thead><tr>"
      "<th>Node</th><th class=\"number\">Round trip</th><th class=\"number\">p99</th>"
      "<th class=\"number extra\">max</th><th class=\"number extra\">answered</th>"
      "<th>State</th></tr></thead>\n<tbody>\n";
  for (const NodeFigures& node : nodes) text += node_row(node);
  return text + "</tbody>\n</table>\n";
}

}  // namespace

std::string bench_page(const BenchFigures& figures) {
  std::string text(kBenchPageBegin);
  text += header(figures);
  if (figures.acquire.latency.count() > 0) {
    text += latency_table(figures) + "<div class=\"pictures\">\n";
    text += picture("Acquisitions", figures.acquire.latency);
    if (figures.release.latency.count() > 0) {
      text += picture("Releases", figures.release.latency);
    }
    text += "</div>\n";
  }
  text += node_table(figures.nodes) + "</main>";
  return text += kBenchPageEnd;
}

}  // namespace redlock::coordinator
