#include "datasets/remote/manifest.hpp"

#include <cstdlib>

#include "reference/core/error.hpp"
#include "reference/core/text.hpp"

namespace plumb {
namespace {

RemoteSet challenge(std::int64_t neurons) {
  const std::string base = "https://graphchallenge.s3.amazonaws.com/synthetic/sparsechallenge_2019/";
  const std::string n = std::to_string(neurons);
  RemoteSet set{"sdnn-" + n,
                "sdnn",
                "Sparse DNN Graph Challenge, " + n + " neurons: weights, inputs, categories",
                "public, for the challenge (graphchallenge.org)",
                {}};
  const auto add = [&](const std::string& file, const std::string& under, Content content, const char* sum) {
    set.files.push_back({file, base + under + file, "", -1, "", content, neurons, sum});
  };
  // Small first, so that a missing network shows at once. Checksums where official files were available; they are of the text, since
  // one text may be packed in many ways.
  const bool known = neurons == 1024;
  for (const char* layers : {"120", "480", "1920"})
    add("neuron" + n + "-l" + layers + "-categories.tsv", "dnn/", Content::categories, "");
  if (known) set.files[0].sha256 = "a006e26755ca317ecf629035972137457705f20e3139b7796a2f9e9d58c8f4e1";
  add("sparse-images-" + n + ".tsv.gz", "mnist/", Content::images,
      known ? "af5805b5f04c31a2b7c33f2fdd93e748d8538e4471a9bc48f6e33b561863a619" : "");
  add("neuron" + n + ".tar.gz", "dnn/", Content::weights,
      known ? "48f8c5363f7f6579b4a186b0d03a27b13d5d9e3e41e17af884569d754248903a" : "");
  return set;
}

RemoteSet suitesparse(const std::string& group, const std::string& name, const std::string& what) {
  const std::string base = "https://suitesparse-collection-website.herokuapp.com/MM/";
  return {name,
          "matrices",
          what,
          "CC BY 4.0 (SuiteSparse Matrix Collection)",
          {{name + ".mtx", base + group + "/" + name + ".tar.gz", "", -1, name + "/" + name + ".mtx",
            Content::matrix_archive, 0, ""}}};
}

}  // namespace

const std::vector<RemoteSet>& manifest() {
  static const std::vector<RemoteSet> kSets{
      {"mnist",
       "sdnn",
       "MNIST's 60,000 training images: the challenge's inputs of every size are made of them",
       "CC BY-SA 3.0 (LeCun, Cortes, Burges)",
       {{"train-images-idx3-ubyte.gz",
         "https://storage.googleapis.com/cvdf-datasets/mnist/train-images-idx3-ubyte.gz",
         "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609", 9912422, "", Content::any, 0,
         ""}}},
      challenge(1024),
      challenge(4096),
      challenge(16384),
      challenge(65536),
      {"web-Stanford",
       "matrices",
       "pages of stanford.edu and their links: 281,903 vertices, 2,312,497 edges",
       "public, cite Leskovec et al. 2009 (SNAP)",
       {{"web-Stanford.txt.gz", "https://snap.stanford.edu/data/web-Stanford.txt.gz", "", -1, "",
         Content::edge_list, 0, ""}}},
      suitesparse("Oberwolfach", "boneS10", "trabecular bone, 914,898 rows, symmetric"),
      suitesparse("Janna", "Bump_2911", "reservoir mechanics, 2,911,419 rows, symmetric"),
      suitesparse("Janna", "Cube_Coup_dt6", "coupled consolidation, 2,164,760 rows, symmetric"),
      suitesparse("Dziekonski", "dielFilterV3real", "electromagnetics, 1,102,824 rows, symmetric"),
      suitesparse("PARSEC", "Ga41As41H72", "density functional, 268,096 rows, symmetric"),
      suitesparse("Hardesty", "Hardesty3", "surface fitting, 8,217,820 x 7,591,564"),
      suitesparse("QLi", "largebasis", "optimisation, 440,020 rows"),
      suitesparse("Fluorem", "RM07R", "compressible flow, 381,689 rows"),
      suitesparse("TSOPF", "TSOPF_RS_b2383", "power flow, 38,120 rows"),
      suitesparse("VLSI", "vas_stokes_2M", "Stokes flow, 2,146,677 rows"),
      suitesparse("Shyy", "shyy41", "viscous flow, 4,720 rows"),
      suitesparse("HB", "ash219", "least squares, 219 x 85"),
      suitesparse("Andrianov", "mip1", "optimisation, 66,463 rows, one nearly full"),
      suitesparse("PARSEC", "Si41Ge41H72", "density functional, 185,639 rows, symmetric"),
      suitesparse("Williams", "webbase-1M", "web links, 1,000,005 rows"),
  };
  return kSets;
}

const RemoteSet& manifest_entry(const std::string& name) {
  std::vector<std::string> names;
  for (const RemoteSet& set : manifest()) {
    if (set.name == name) return set;
    names.push_back(set.name);
  }
  throw Error("unknown data set '" + printable(name) + "'" + did_you_mean(name, names) + " (dataset list)");
}

std::optional<std::string> find_cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string own = variable("PLUMB_CACHE"); !own.empty()) return own;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/plumbline";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/plumbline";
  return std::nullopt;
}

std::string cache_folder() {
  if (std::optional<std::string> found = find_cache_folder()) return *std::move(found);
  throw Error("no cache folder: set PLUMB_CACHE, XDG_CACHE_HOME or HOME");
}

}  // namespace plumb
