package memory

// setAside makes the message undeliverable. q.mu is held.
func (q *standardQueue[T]) setAside(e *entry[T]) {
	q.unlink(e)
	delete(q.all, e.id)
	q.undeliverable = append(q.undeliverable, e)
}

// reject makes the message undeliverable, and ignores an unknown id.
func (q *standardQueue[T]) reject(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()

	if e, ok := q.all[id]; ok {
		q.setAside(e)
	}
}

// redrive makes the undeliverable messages visible, as new messages with the same
// content, and returns their number.
func (q *standardQueue[T]) redrive() int {
	q.mu.Lock()
	moved := q.undeliverable
	q.undeliverable = nil
	q.mu.Unlock()

	for _, e := range moved {
		q.put(e.group.id, e.value, q.now())
	}
	return len(moved)
}

func (q *standardQueue[T]) countUndeliverable() int {
	q.mu.Lock()
	defer q.mu.Unlock()

	return len(q.undeliverable)
}

// Reject makes the message undeliverable: on AWS, Lambda does so with a message past
// the limit of recursive invocations. Reject ignores an unknown id.
func (q *TaskQueues) Reject(id string) {
	for _, l := range q.queues {
		l.reject(id)
	}
}

// Undeliverable returns the number of undeliverable messages of all queues.
func (q *TaskQueues) Undeliverable() int {
	n := 0
	for _, l := range q.queues {
		n += l.countUndeliverable()
	}
	return n
}

// Redrive moves the undeliverable messages back to their queues, visible at once, and
// returns their number.
func (q *TaskQueues) Redrive() int {
	n := 0
	for _, l := range q.queues {
		n += l.redrive()
	}
	return n
}

// Reject makes the check undeliverable. Reject ignores an unknown id.
func (q *CircuitQueue) Reject(id string) { q.checks.reject(id) }

// Undeliverable returns the number of undeliverable checks.
func (q *CircuitQueue) Undeliverable() int { return q.checks.countUndeliverable() }

// Redrive makes the undeliverable checks visible, and returns their number.
func (q *CircuitQueue) Redrive() int { return q.checks.redrive() }

// Reject makes the message undeliverable. Reject ignores an unknown id.
func (j *JobQueue) Reject(id string) { j.jobs.reject(id) }

// Undeliverable returns the number of undeliverable messages.
func (j *JobQueue) Undeliverable() int { return j.jobs.countUndeliverable() }

// Redrive makes the undeliverable messages visible, and returns their number.
func (j *JobQueue) Redrive() int { return j.jobs.redrive() }
