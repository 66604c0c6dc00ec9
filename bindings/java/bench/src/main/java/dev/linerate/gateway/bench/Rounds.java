package dev.linerate.gateway.bench;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Measures cases in turn, so that a disturbance of the machine hits all alike. */
final class Rounds {
    private static final ThreadMXBean THREADS = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);

    private Rounds() {}

    /** The work of one contender. */
    interface Case {
        /** Does the work once and adds what it cost. */
        void round(Samples into) throws Exception;
    }

    interface Work {
        void run() throws Exception;
    }

    /**
     * The cost of work on this thread: CPU time and elapsed time in nanoseconds, and allocated
     * bytes.
     */
    record Cost(long cpu, long elapsed, long allocated) {
        static Cost of(Work work) throws Exception {
            long allocated = THREADS.getCurrentThreadAllocatedBytes();
            long elapsed = System.nanoTime();
            long cpu = THREADS.getCurrentThreadCpuTime();
            work.run();
            return new Cost(
                    THREADS.getCurrentThreadCpuTime() - cpu,
                    System.nanoTime() - elapsed,
                    THREADS.getCurrentThreadAllocatedBytes() - allocated);
        }
    }

    /**
     * Runs all cases in each round. The first {@code warmUp} rounds, in which code is compiled, do
     * not count.
     */
    static Map<String, Samples> run(Map<String, Case> cases, int warmUp, int rounds) throws Exception {
        Map<String, Samples> all = new LinkedHashMap<>();
        List<String> order = new ArrayList<>(cases.keySet());
        for (int round = -warmUp; round < rounds; round++) {
            if (round <= 0) {
                cases.keySet().forEach(name -> all.put(name, new Samples()));
            }
            System.err.println("round " + (round + 1) + " of " + rounds);
            for (String name : order) {
                cases.get(name).round(all.get(name));
            }
            // Each case comes first in turn, so that none always runs after the same one.
            Collections.rotate(order, 1);
        }
        return all;
    }
}
