package hook

import "time"

// SweepPause is how long a swept delivery stays out of the sweep. The sweep takes deliveries
// that are 15 minutes overdue, so it takes the same delivery at most once an hour.
const SweepPause = 45 * time.Minute

// OverdueFrom returns the time since when a retrying or queued delivery is overdue: the time of
// its task (NextAttemptAt, or CreatedAt for a queued delivery), or SweepPause after SweptAt,
// whichever is later.
func (d Delivery) OverdueFrom() time.Time {
	from := d.NextAttemptAt
	if d.State == StateQueued {
		from = d.CreatedAt
	}
	if again := d.SweptAt.Add(SweepPause); !d.SweptAt.IsZero() && again.After(from) {
		return again
	}
	return from
}

// earlyRetries is the age of a delivery up to which the table lists its next attempt under its
// creation, so that early retries move no row of the index.
const earlyRetries = time.Hour

// ListedAt returns the time under which the table lists a retrying or queued delivery for the sweep.
// It is not after OverdueFrom.
func (d Delivery) ListedAt() time.Time {
	from := d.OverdueFrom()
	age := from.UnixMilli() - d.CreatedAt.UnixMilli() // as the record has them
	if age < 0 || age >= earlyRetries.Milliseconds() {
		return from
	}
	return d.CreatedAt
}
