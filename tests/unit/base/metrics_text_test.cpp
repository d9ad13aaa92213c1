// The text that metrics are told in.
#include "base/text/metrics_text.h"

#include <limits>

#include <catch2/catch.hpp>

using namespace redlock;

TEST_CASE("a number has its help and its type before it") {
  MetricsText text("redlock");
  text.gauge("locks", "Locks that are held.", 3);
  text.counter("granted_total", "Locks that were granted.", 9007199254740991.0);
  CHECK(std::move(text).str() ==
        "# HELP redlock_locks Locks that are held.\n"
        "# TYPE redlock_locks gauge\n"
        "redlock_locks 3\n"
        "# HELP redlock_granted_total Locks that were granted.\n"
        "# TYPE redlock_granted_total counter\n"
        "redlock_granted_total 9007199254740991\n");
}

TEST_CASE("samples of one name are told apart by labels, whose values may be anything") {
  MetricsText text("x");
  text.gauge("of", "By name.");
  text.sample({{"a", "plain"}, {"b", "q\"uote \\ and\nline"}}, 0.25);
  text.sample({{"a", ""}}, -1);
  CHECK(std::move(text).str() ==
        "# HELP x_of By name.\n# TYPE x_of gauge\n"
        "x_of{a=\"plain\",b=\"q\\\"uote \\\\ and\\nline\"} 0.25\n"
        "x_of{a=\"\"} -1\n");
}

TEST_CASE("a histogram's buckets count all that are below their edges") {
  MetricsText text("x");
  DurationBuckets times;
  for (const Duration took : {Duration(2ms), Duration(80us), Duration(3s)}) times.add(took);
  text.histogram("wait_seconds", "Waits.", times);
  CHECK(std::move(text).str() ==
        "# HELP x_wait_seconds Waits.\n# TYPE x_wait_seconds histogram\n"
        "x_wait_seconds_bucket{le=\"0.0001\"} 1\nx_wait_seconds_bucket{le=\"0.00025\"} 1\n"
        "x_wait_seconds_bucket{le=\"0.0005\"} 1\nx_wait_seconds_bucket{le=\"0.001\"} 1\n"
        "x_wait_seconds_bucket{le=\"0.0025\"} 2\nx_wait_seconds_bucket{le=\"0.005\"} 2\n"
        "x_wait_seconds_bucket{le=\"0.01\"} 2\nx_wait_seconds_bucket{le=\"0.025\"} 2\n"
        "x_wait_seconds_bucket{le=\"0.05\"} 2\nx_wait_seconds_bucket{le=\"0.1\"} 2\n"
        "x_wait_seconds_bucket{le=\"0.25\"} 2\nx_wait_seconds_bucket{le=\"0.5\"} 2\n"
        "x_wait_seconds_bucket{le=\"1\"} 2\nx_wait_seconds_bucket{le=\"2.5\"} 2\n"
        "x_wait_seconds_bucket{le=\"5\"} 3\nx_wait_seconds_bucket{le=\"10\"} 3\n"
        "x_wait_seconds_bucket{le=\"30\"} 3\nx_wait_seconds_bucket{le=\"60\"} 3\n"
        "x_wait_seconds_bucket{le=\"+Inf\"} 3\n"
        "x_wait_seconds_sum 3.00208\nx_wait_seconds_count 3\n");
}

TEST_CASE("histograms of one name are told apart by labels, too") {
  MetricsText text("x");
  text.histogram("trip_seconds", "By node.");
  DurationBuckets times;
  text.sample({{"node", "a"}}, times);
  times.add(45s);
  text.sample({{"node", "b"}}, times);
  const std::string all = std::move(text).str();
  CHECK(all.find("# TYPE x_trip_seconds histogram\n"
                 "x_trip_seconds_bucket{node=\"a\",le=\"0.0001\"} 0\n") != std::string::npos);
  CHECK(all.find("x_trip_seconds_count{node=\"a\"} 0\n") != std::string::npos);
  CHECK(all.find("x_trip_seconds_bucket{node=\"b\",le=\"30\"} 0\n"
                 "x_trip_seconds_bucket{node=\"b\",le=\"60\"} 1\n"
                 "x_trip_seconds_bucket{node=\"b\",le=\"+Inf\"} 1\n"
                 "x_trip_seconds_sum{node=\"b\"} 45\nx_trip_seconds_count{node=\"b\"} 1\n") !=
        std::string::npos);
}

TEST_CASE("what is no number has the format's words") {
  MetricsText text("x");
  text.gauge("a", "A.", std::numeric_limits<double>::quiet_NaN());
  text.gauge("b", "B.", std::numeric_limits<double>::infinity());
  text.gauge("c", "C.", -std::numeric_limits<double>::infinity());
  const std::string all = std::move(text).str();
  CHECK(all.find("x_a NaN\n") != std::string::npos);
  CHECK(all.find("x_b +Inf\n") != std::string::npos);
  CHECK(all.find("x_c -Inf\n") != std::string::npos);
}
