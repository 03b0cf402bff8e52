// Package erasure removes everything of a tenant, in a job.
//
// # The mark
//
// Start marks the tenant as closing and stores the job, in one write. From then on, events,
// endpoints, keys, replays and other changes of the tenant are refused (hook.TenantClosing). A
// process that has read the tenant earlier may still write.
//
// # The stages
//
// Messages drive the job. Each message makes some steps, and each step finds some records,
// removes them, and saves the position in the job:
//
//	stop --> walk --> scan --> finish
//	         ^  |     ^  |
//	         +--+     +--+   another pass, until a pass removes nothing
//
//	stop    the tenant's keys and endpoints, so that nobody calls and nothing is sent
//	walk    what the tenant's lists name: deliveries, attempts, their events, replays
//	scan    every record of the tenant that no list names, in a scan of the store
//	finish  the tenant's list of endpoints; then the data key and the tenant with the mark, in one write with the job
//
// A process ends within Quiet of its last read of the store. So each pass begins Quiet after the last
// removal, and finds every late write. When a pass has removed nothing, no process can have read a
// record of the tenant since that pass began.
//
// # Crashes and duplicates
//
// Every save of the job is conditional on the version read. Removals are idempotent. When a
// pass finds a record, the job is marked (Dirty) before the removal, so a crash afterwards
// does not make the pass look clean. The job names the message that continues it
// (replay.Chain), so duplicates of a message end. Finish begins Quiet after the last pass, so no
// worker with an old position removes records of a later tenant with the same name.
//
// The package knows no HTTP, queues or tables.
package erasure

import (
	"context"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

const (
	// Quiet is the time after which every process that read the store has ended: the
	// longest timeout of a function, 60 s, and 30 s more for clocks that differ.
	Quiet = 90 * time.Second
	// Keep is how long a job is kept after its last save, the same as for audit records.
	Keep = hook.AuditKept
)

// Erasure is the removal of a tenant.
type Erasure struct {
	ID        hook.ErasureID `stored:"id"`
	Tenant    hook.TenantID  `stored:"tenant"`
	By        hook.KeyID     `stored:"by"`
	CreatedAt time.Time      `stored:"created_at"`
	UpdatedAt time.Time      `stored:"updated_at"`
	EndedAt   time.Time      `stored:"ended_at"`           // zero while the job runs
	ExpiresAt time.Time      `stored:"expires_at,seconds"` // removal of the record: Keep after UpdatedAt
	Version   int64          `stored:"version"`            // of the stored record; 0: no record

	Stage     Stage     `stored:"stage"`
	Cursor    string    `stored:"cursor"`     // of the next step of the pass; empty at the start of a pass
	Dirty     bool      `stored:"dirty"`      // the pass found a record
	Passes    int       `stored:"passes"`     // completed passes of walk and scan
	NotBefore time.Time `stored:"not_before"` // of the next step
	Removed   Counts    `stored:"removed"`

	replay.Chain
}

// Stage is a part of the job.
type Stage uint8

// The stages, in their order. The zero Stage is not valid.
const (
	StageStop Stage = iota + 1
	StageWalk
	StageScan
	StageFinish
	StageDone
)

// String returns the stage as stored.
func (s Stage) String() string {
	return hook.Names[Stage]{
		StageStop: "stop", StageWalk: "walk", StageScan: "scan", StageFinish: "finish", StageDone: "done",
	}.Of(s)
}

// State returns the state as it appears in the API: running or finished.
func (e Erasure) State() string {
	if e.Stage == StageDone {
		return "finished"
	}
	return "running"
}

// Counts counts removed records. After a crash, the records of one step may be missing. With a
// duplicate message, the records of one step may count twice.
type Counts struct {
	Keys       int `stored:"keys" json:"keys"`
	Endpoints  int `stored:"endpoints" json:"endpoints"`
	Events     int `stored:"events" json:"events"`
	Deliveries int `stored:"deliveries" json:"deliveries"`
	Attempts   int `stored:"attempts" json:"attempts"`
	Replays    int `stored:"replays" json:"replays"`
	Other      int `stored:"other" json:"other"` // circuits, limits, counts, notifications, names
}

// add counts the records.
func (c *Counts) add(records []Record) {
	of := map[Kind]*int{
		KindKey: &c.Keys, KindEndpoint: &c.Endpoints, KindEvent: &c.Events, KindDelivery: &c.Deliveries,
		KindAttempt: &c.Attempts, KindReplay: &c.Replays, KindOther: &c.Other,
	}
	for _, r := range records {
		*of[r.Kind]++
	}
}

// Kind is the kind of a record.
type Kind uint8

// The kinds of records. The zero Kind is not valid.
const (
	KindKey Kind = iota + 1
	KindEndpoint
	KindEvent
	KindDelivery
	KindAttempt
	KindReplay
	KindOther
)

// Record names a record of a tenant.
type Record struct {
	Kind Kind
	Key  string // the place in the store; only the store reads it
}

// Part is a part of a pass.
type Part struct {
	Records []Record
	Next    string // cursor of the next part; empty at the end of the pass
}

// Store keeps the jobs, and finds and removes the records of tenants. Every read sees
// every write acknowledged before the read began.
type Store interface {
	// BeginErasure stores the first version of e and marks the tenant as closing, both or
	// none. If the tenant is already marked, BeginErasure writes nothing and returns the job
	// that marked it.
	BeginErasure(ctx context.Context, e Erasure) (Erasure, error)
	// Erasure returns the job, or CodeNotFound when the tenant has no such job.
	Erasure(ctx context.Context, tenant hook.TenantID, id hook.ErasureID) (Erasure, error)
	// SaveErasure writes e as version e.Version+1. If the stored version is not e.Version,
	// SaveErasure writes nothing and returns CodeConflict.
	SaveErasure(ctx context.Context, e Erasure) error
	// FinishErasure is SaveErasure, and removes the data key and the tenant with the mark, all
	// or none. CodeConflict, too, if another job marked the tenant.
	FinishErasure(ctx context.Context, e Erasure) error
	// FindRecords returns a bounded part of the records that the stage removes, from the cursor
	// on. No stage finds audit records and jobs of erasure. The stage scan finds all other
	// records that exist from its start to its end, except the tenant itself with its list of
	// endpoints and its data key. The stage finish finds the list.
	FindRecords(ctx context.Context, tenant hook.TenantID, stage Stage, cursor string) (Part, error)
	// RemoveRecords removes the records. A missing record is not an error.
	RemoveRecords(ctx context.Context, tenant hook.TenantID, records []Record) error
}
