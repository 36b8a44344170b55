#include "datasets/networks/drawn_gcn.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "datasets/tests/scratch.hpp"
#include "reference/core/csr.hpp"

using namespace plumb;
using namespace plumb::test;

namespace {

GcnRequest request_for(const Case& c) {
  GcnRequest request;
  request.drawn_case = c.id();
  return request;
}

}  // namespace

TEST_CASE("the id of a drawn GCN is all that it takes to make it again") {
  for (std::uint64_t number = 0; number < 40; ++number) {
    const Case c = draw_gcn_case(7, number, 1e5);
    CAPTURE(c.id());
    CHECK(draw_gcn_case(7, number, 1e5).id() == c.id());
    CHECK(draw_gcn_case(8, number, 1e5).id() != c.id());
    CHECK(parse_case(c.id()) == c);
    const LoadedGcn one = gcn_of_case(c), other = load_gcn(request_for(c));
    CHECK(csr_fault(one.f64.a) == "");
    CHECK(one.f64.a.val == other.f64.a.val);
    CHECK(one.f64.weights.back().data == other.f64.weights.back().data);
    CHECK(one.f64.sparse_features == other.f64.sparse_features);  // what the id says, whatever the density
    CHECK(one.f64_files == (number % 2 == 1));
  }
}

TEST_CASE(
    "two hundred drawn GCNs have every graph, one to seven layers, wide, odd and single columns, and both "
    "forms of X") {
  std::set<std::string> graphs;
  std::set<std::size_t> layers;
  std::set<std::int64_t> columns;
  std::map<std::string, int> others;
  for (std::uint64_t number = 0; number < 200; ++number) {
    const Case c = draw_gcn_case(1, number, 1e6);
    const LoadedGcn net = gcn_of_case(c);
    graphs.insert(c.text("graph"));
    layers.insert(net.f64.weights.size());
    double products = 0;
    for (const Dense<double>& w : net.f64.weights) {
      columns.insert(w.cols);
      products += static_cast<double>(net.f64.a.rows * w.rows * w.cols);
    }
    CHECK((products <= 1e6 || net.f64.a.rows == 1));
    for (const char* key : {"values", "x", "x_density", "biases"}) ++others[key + c.text(key)];
    ++others[std::string(name(c.fill))];
  }
  CHECK(graphs.size() >= 12);
  CHECK(layers == std::set<std::size_t>{1, 2, 3, 4, 5, 7});
  for (const std::int64_t width : {1, 7, 8, 33, 100, 512}) CHECK(columns.count(width) == 1);
  CHECK(others.size() == 14);
  for (const auto& other : others) CHECK_MESSAGE(other.second >= 20, other.first);
}

TEST_CASE("a case that is no GCN, or has a word that there is not, says so") {
  const auto refused = [](const std::string& id) {
    return error_of([&] { (void)gcn_of_case(parse_case(id)); });
  };
  const std::string rest = "values=signed,x=csr,x_density=0.5,widths=3-2,biases=all,fill=real,seed=1)";
  CHECK(refused("spmv.f32(rows=3,fill=real,seed=1)") ==
        "--case 'spmv.f32(rows=3,fill=real,seed=1)': the operator is not gcn");
  CHECK(refused("gcn.f32(vertices=3,graph=rnat,density=0.5," + rest).find("unknown pattern 'rnat'") !=
        std::string::npos);
  CHECK(
      refused(
          "gcn.f32(vertices=3,graph=rmat,density=0.5,values=signed,x=coo,x_density=0.5,widths=3-2,biases=all,"
          "fill=real,seed=1)")
          .find("x=coo: takes csr, dense") != std::string::npos);
  CHECK(refused(
            "gcn.f32(vertices=3,graph=rmat,density=0.5,values=signed,x=csr,x_density=0.5,widths=3,biases=all,"
            "fill=real,seed=1)")
            .find("widths=3: takes F0-F1-...-Fk") != std::string::npos);
  CHECK(
      refused(
          "gcn.f32(vertices=3,graph=rmat,density=0.5,values=signed,x=csr,x_density=0.5,widths=3-2,biases=all,"
          "fill=hostile,seed=1)")
          .find("fill=hostile: takes real, positive, few") != std::string::npos);
}
