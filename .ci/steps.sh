# Runs steps at the same time, for .ci/run and .ci/weekly. Source it, declare
# steps with `step`, then call `run_steps`. Needs bash 5.1 or newer.
# shellcheck shell=bash

[ "${BASH_VERSINFO[0]}${BASH_VERSINFO[1]}" -ge 51 ] || { echo "bash 5.1 or newer is needed; this is $BASH_VERSION"; exit 1; }

step_names=() step_groups=() step_commands=()
step_states=()                # waiting, running, passed, failed or ended
step_began=() step_seconds=() # in seconds: since the start of the script; of the step itself
declare -A step_of=()         # the step of a running process
logs=bin/ci                   # one file per step
grace=15                      # seconds between asking a step to end and killing the step

# step NAME GROUP COMMAND... declares a step. Steps start in the order of their
# declaration. Two steps of one group never run at the same time: a group stands
# for a folder or a file that the steps share. The group "-" is no group.
step() {
	step_names+=("$1") step_groups+=("$2") step_states+=(waiting) step_began+=(0) step_seconds+=(0)
	shift 2
	step_commands+=("${*@Q}")
}

# run_steps WORKERS runs the declared steps, so many at once. Each step's output
# goes to a file, and is printed whole and in the order of the declarations. When
# a step fails, the running steps are ended, and the failed step's output is the
# last that is printed.
run_steps() {
	local workers=$1 printed=0 failed="" i pid code
	rm -rf "$logs"
	mkdir -p "$logs"
	set -m # each step is a process group of its own
	trap 'end_steps; exit 130' INT TERM HUP
	while start_steps "$workers" && [ "${#step_of[@]}" -gt 0 ]; do
		code=0
		wait -n -p pid "${!step_of[@]}" || code=$?
		i=${step_of[$pid]}
		unset "step_of[$pid]"
		step_seconds[i]=$((SECONDS - step_began[i]))
		if [ "$code" -ne 0 ]; then
			step_states[i]=failed
			failed=$i
			break
		fi
		step_states[i]=passed
		printf '%5d s  %s passed after %d s\n' "$SECONDS" "${step_names[i]}" "${step_seconds[i]}"
		while [ "$printed" -lt "${#step_names[@]}" ] && [ "${step_states[printed]}" = passed ]; do
			print_step "$printed"
			printed=$((printed + 1))
		done
	done
	if [ -n "$failed" ]; then
		end_steps
		for ((i = printed; i < ${#step_names[@]}; i++)); do
			[ "${step_states[i]}" != passed ] || print_step "$i"
		done
		print_step "$failed"
	fi
	trap - INT TERM HUP
	set +m
	summary
	[ -z "$failed" ]
}

# start_steps WORKERS starts waiting steps until all workers are busy.
start_steps() {
	local i
	for i in "${!step_names[@]}"; do
		[ "${#step_of[@]}" -lt "$1" ] || return 0
		if [ "${step_states[i]}" != waiting ] || group_is_busy "${step_groups[i]}"; then
			continue
		fi
		step_states[i]=running
		step_began[i]=$SECONDS
		printf '%5d s  %s started\n' "$SECONDS" "${step_names[i]}"
		bash -c "${step_commands[i]}" > "$logs/${step_names[i]}.log" 2>&1 < /dev/null &
		step_of[$!]=$i
	done
}

# group_is_busy GROUP reports whether a step of the group runs.
group_is_busy() {
	local i
	[ "$1" != - ] || return 1
	for i in "${step_of[@]}"; do
		[ "${step_groups[i]}" != "$1" ] || return 0
	done
	return 1
}

# end_steps ends the running steps with all their descendants. An emulator is in a
# process group of its own, so a signal to the step's group alone misses the emulator.
end_steps() {
	local pid i all=()
	[ "${#step_of[@]}" -gt 0 ] || return 0
	for pid in "${!step_of[@]}"; do
		i=${step_of[$pid]}
		step_states[i]=ended
		step_seconds[i]=$((SECONDS - step_began[i]))
		mapfile -t -O "${#all[@]}" all < <(descendants "$pid")
		kill -TERM -- "-$pid" || true
	done
	local deadline=$((SECONDS + grace))
	while [ "$SECONDS" -lt "$deadline" ] && kill -0 "${all[@]}"; do
		sleep 0.2
	done
	kill -KILL "${all[@]}" || true
	wait "${!step_of[@]}" || true
	step_of=()
} 2> /dev/null # of the shell, which tells of every ended process

# descendants PID prints the process and its descendants, one id a line.
descendants() {
	ps -A -o pid=,ppid= | awk -v root="$1" '
		{ parent[$1] = $2 }
		END {
			for (pid in parent) {
				for (p = pid; p in parent && p != root; p = parent[p]) {}
				if (p == root) print pid
			}
		}'
}

# print_step I prints the whole output of a step.
print_step() {
	printf '\n=== %s: %s after %d s\n' "${step_names[$1]}" "${step_states[$1]}" "${step_seconds[$1]}"
	cat "$logs/${step_names[$1]}.log"
}

summary() {
	local i
	printf '\n%-16s %8s %8s  %s\n' step began seconds state
	for i in "${!step_names[@]}"; do
		printf '%-16s %8d %8d  %s\n' "${step_names[i]}" "${step_began[i]}" "${step_seconds[i]}" "${step_states[i]}"
	done
	printf '%-16s %8s %8d\n' total "" "$SECONDS"
}
