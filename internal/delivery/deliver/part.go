package deliver

import (
	"context"
	"fmt"
	"maps"

	"surehook.example/surehook/internal/hook"
)

const (
	// loadAtOnce is the number of tasks whose records one call loads, with at most 6.25 MB of
	// payloads. Their size is only known after the call.
	loadAtOnce = 25
	// maxLoaded is the number of payload bytes after which a part is full. A batch of the queue
	// coalesce has up to 25 MB of payloads, and a request needs them once more: too much for a
	// function with 160 MB, which would die with the batch again and again until the queue
	// gives up.
	maxLoaded = 4 << 20
)

// loadPart loads the records of the first jobs, until their payloads reach maxLoaded bytes, and
// returns the loaded jobs and the rest. Jobs whose load failed are in neither.
func (d *Deliverer) loadPart(ctx context.Context, jobs []*job) (loaded []*job, snapshot Snapshot, rest []*job) {
	loaded = make([]*job, 0, len(jobs))
	for bytes := 0; len(jobs) > 0 && bytes < maxLoaded; {
		next := jobs[:min(len(jobs), loadAtOnce)]
		jobs = jobs[len(next):]
		found, err := d.Store.Load(ctx, tasksOf(next))
		if err != nil {
			failAll(next, fmt.Errorf("load the records of %d tasks: %w", len(next), err))
			continue
		}
		for _, e := range found.Events {
			bytes += len(e.Payload)
		}
		loaded = append(loaded, next...)
		snapshot = snapshot.with(found)
	}
	snapshot.capTimeouts() // after the last load: the jobs of an endpoint share its record
	return loaded, snapshot, jobs
}

func tasksOf(jobs []*job) []hook.Task {
	tasks := make([]hook.Task, len(jobs))
	for i, j := range jobs {
		tasks[i] = j.Task
	}
	return tasks
}

// with returns the records of both snapshots. A record in both is taken from the later one.
func (s Snapshot) with(later Snapshot) Snapshot {
	if s.Events == nil {
		return later
	}
	if s.Faults == nil {
		s.Faults = later.Faults
	} else {
		maps.Copy(s.Faults, later.Faults)
	}
	maps.Copy(s.Events, later.Events)
	maps.Copy(s.Endpoints, later.Endpoints)
	maps.Copy(s.Circuits, later.Circuits)
	maps.Copy(s.Deliveries, later.Deliveries)
	maps.Copy(s.Sequences, later.Sequences)
	maps.Copy(s.Limits, later.Limits)
	return s
}
