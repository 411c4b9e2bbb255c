// SPDX-License-Identifier: MIT
#include "file/sigmf/metadata_updater.hpp"

#include "file/sigmf/metadata_merge.hpp"
#include "file/sigmf/metadata_reader.hpp"
#include "sys/disk/whole_file.hpp"
#include "sys/files.hpp"

#include <utility>

namespace iio_stream::file {

MetadataUpdater::MetadataUpdater(std::string path, Outcome outcome, const StreamRange& range,
                                 TuningLog tunings)
    : path_(std::move(path)),
      outcome_(std::move(outcome)),
      range_(range),
      tunings_(std::move(tunings))
{
    tunings_.listen({}); // the journal is gone
}

// Changes made to the metadata in the meantime stay. A part that was removed stays removed.
void MetadataUpdater::apply(const Part::LateReport& late)
{
    const auto* gap = std::get_if<Gap>(&late);
    const bool ours = gap != nullptr
                          ? add_late_loss(outcome_, range_, outcome_.samples, *gap)
                          : tunings_.apply_late_retuning(std::get<detail::NewRetuning>(late));
    outcome_.tunings = tunings_.tunings();
    if (!ours || !sys::path_exists(path_))
        return;
    Json metadata = load_metadata(path_);
    if (metadata["global"]["iio_stream:state"] != "complete")
        return;
    merge_into_edited(metadata, outcome_);
    sys::publish_file(path_, text_of(metadata), sys::Existing::replaced);
}

} // namespace iio_stream::file
