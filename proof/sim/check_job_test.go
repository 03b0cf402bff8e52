package sim_test

import (
	"slices"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
)

// named is a message that a save of its job named as the one to continue the job.
type named struct {
	nonce string
	at    time.Time
}

func (w *simulation) sawJob(j replay.Job) {
	all := w.named[j.ID]
	if len(all) == 0 || all[len(all)-1].nonce != j.Next {
		w.named[j.ID] = append(all, named{j.Next, w.now})
	}
}

// checkJobMessage: a process sends the message that continues its job, or the one before.
// The job may have moved on since the start of the process.
func (p *process) checkJobMessage(m replay.Message) {
	if !p.doomed.marked.IsZero() && m.Tenant == p.doomed.tenant {
		return // by an erasure, whose writes are not shown
	}
	all := p.named[m.Job]
	known := 0 // the first message named after the start
	for known < len(all) && !all[known].at.After(p.started) {
		known++
	}
	valid := all[max(0, known-2):]
	if len(all) > 0 && !slices.ContainsFunc(valid, func(n named) bool { return n.nonce == m.Nonce }) {
		p.fail(checkMessages, "%s sends a message of job %s that the job left behind", p.name, m.Job)
	}
}
