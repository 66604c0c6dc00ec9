package dev.linerate.gateway.bench;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;

/**
 * Measures one shape of work and prints JSON Lines: a line for the run, then one for each
 * measurement.
 */
public final class Bench {
    private static final String USAGE = """
            usage: bench messages|start-up|memory|jda|netty --data DIR [--rounds N] [--shards N] [--connections N]
                         [--only whole,live,parsed] [--linerate PROGRAM]
            """;

    Path data;
    int shards = Integer.MAX_VALUE;
    int rounds = 5;
    /**
     * Number of connections: those open at a time, or, for "jda", those measured one after the
     * other. 0 takes the default of the shape.
     */
    int connections;
    /** The parts of the shape "messages" to measure. */
    List<String> only = List.of("whole", "live", "parsed");
    /** The program that serves as JDA's gateway. */
    String linerate = "linerate";

    private Bench() {}

    public static void main(String[] args) throws Exception {
        Bench options = new Bench();
        String shape = args.length == 0 ? "" : args[0];
        try {
            if (!List.of("messages", "start-up", "memory", "jda", "netty").contains(shape)) {
                throw new IllegalArgumentException("no such shape: " + shape);
            }
            options.parse(List.of(args).subList(1, args.length).iterator());
        } catch (IllegalArgumentException e) {
            System.err.print("error: " + e.getMessage() + "\n" + USAGE);
            System.exit(2);
        }
        Lines lines = new Lines(System.out, args);
        switch (shape) {
            case "messages" -> Messages.run(options, lines);
            case "start-up" -> Messages.startUp(options, lines);
            case "memory" -> Memory.run(options, lines);
            case "jda" -> Jda.run(options, lines);
            default -> Netty.run(options, lines);
        }
    }

    private void parse(Iterator<String> words) {
        while (words.hasNext()) {
            String option = words.next();
            if (!words.hasNext()) {
                throw new IllegalArgumentException(option + " is unknown or needs a value");
            }
            String value = words.next();
            switch (option) {
                case "--data" -> data = Path.of(value).toAbsolutePath();
                case "--shards" -> shards = number(option, value);
                case "--rounds" -> rounds = number(option, value);
                case "--connections" -> connections = number(option, value);
                case "--only" -> only = List.of(value.split(","));
                case "--linerate" -> linerate = value;
                default -> throw new IllegalArgumentException("unknown option: " + option);
            }
        }
        if (data == null) {
            throw new IllegalArgumentException("--data is missing");
        }
    }

    private static int number(String option, String value) {
        if (!value.matches("[1-9][0-9]{0,8}")) {
            throw new IllegalArgumentException(option + " takes a number above 0, not " + value);
        }
        return Integer.parseInt(value);
    }
}
