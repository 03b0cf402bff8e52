package replay

import (
	"maps"
	"time"

	"surehook.example/surehook/internal/hook"
)

// Skip is the reason why a job leaves a selected delivery alone.
type Skip string

// The reasons, as they appear in the API and in stored jobs.
const (
	SkipReplayed   Skip = "already_replayed" // a newer generation exists, perhaps still in progress
	SkipInProgress Skip = "in_progress"      // the delivery has attempts left
	SkipChanged    Skip = "changed"          // the delivery has left the state of the filter, or its record cannot be read
	SkipExpires    Skip = "event_expires"    // the event expires too soon for another generation
	SkipErased     Skip = "erased"           // the payload was erased
	SkipGone       Skip = "gone"             // the delivery, its event or the added endpoint no longer exists
	SkipLast       Skip = "last_generation"  // the delivery was replayed hook.MaxGeneration-1 times
	SkipType       Skip = "other_type"       // only of a job that adds an endpoint: the filter does not name the type of the event
	SkipUnasked    Skip = "not_subscribed"   // only of a job that adds an endpoint: neither its subscription nor its filter asks for the event
	SkipTarget     Skip = "has_endpoint"     // only of a job that adds an endpoint: the endpoint is already a target of the event
)

// skipOf returns why d.Replay refused with err. It checks in the same order as Replay.
func skipOf(d hook.Delivery, err error, now time.Time) Skip {
	switch code := hook.CodeOf(err); {
	case code == hook.CodeReplayed:
		return SkipReplayed
	case code == hook.CodeInProgress:
		return SkipInProgress
	case d.ClosedForReplay(now):
		return SkipExpires
	case d.Erased:
		return SkipErased
	case d.ID.Generation >= hook.MaxGeneration:
		return SkipLast
	}
	return SkipChanged
}

// countSkipped adds the skipped deliveries of a page. It replaces the map, so copies of the job keep
// their counts.
func (j *Job) countSkipped(skipped map[Skip]int) {
	if len(skipped) == 0 {
		return
	}
	total := make(map[Skip]int, len(j.SkippedBy)+len(skipped))
	maps.Copy(total, j.SkippedBy)
	for why, n := range skipped {
		total[why] += n
		j.Skipped += n
	}
	j.SkippedBy = total
}
