//! Guilds: what GUILD_CREATE says of them, and what later events take up.

use super::people::{Member, presence};
use super::source::Source;
use super::words::{PICTURES, joined, title, words};

const FEATURES: &[&str] = &[
    "ANIMATED_ICON",
    "AUTO_MODERATION",
    "BANNER",
    "COMMUNITY",
    "DISCOVERABLE",
    "INVITE_SPLASH",
    "NEWS",
    "PREVIEW_ENABLED",
    "ROLE_ICONS",
    "SOUNDBOARD",
    "THREADS_ENABLED",
    "VANITY_URL",
    "WELCOME_SCREEN_ENABLED",
];

/// What is kept of a guild.
pub(super) struct Guild {
    pub(super) id: u64,
    pub(super) members: Vec<Member>,
    pub(super) channels: Vec<u64>,
}

impl Guild {
    /// A guild and the event that tells of it.
    pub(super) fn create(source: &mut Source, id: u64) -> (Guild, String) {
        let scale = source.log_normal(0.6, 0.95);
        let mut many =
            |mean: f64, deviation: f64, least| source.around(mean * scale, deviation * scale, least);
        let (roles, channels) = (many(30.0, 12.0, 1), many(45.0, 15.0, 2));
        let (members, emojis) = (many(75.0, 25.0, 2), many(45.0, 25.0, 0));
        let roles: Vec<u64> = (0..roles).map(|_| source.id()).collect();
        let guild = Guild {
            id,
            members: (0..members).map(|_| Member::new(source, &roles)).collect(),
            channels: (0..channels).map(|_| source.id()).collect(),
        };
        let data = guild.data(source, &roles, emojis);
        let message = source.dispatch("GUILD_CREATE", &data);
        (guild, message)
    }

    fn data(&self, source: &mut Source, roles: &[u64], emojis: usize) -> String {
        let described: Vec<String> = roles.iter().enumerate().map(|(i, id)| role(source, i, *id)).collect();
        let channels: Vec<String> =
            self.channels.iter().enumerate().map(|(i, id)| channel(source, i, *id, roles)).collect();
        let members: Vec<String> = self.members.iter().map(Member::object).collect();
        let emojis: Vec<String> = (0..emojis).map(|_| emoji(source)).collect();
        let voices: Vec<String> = (0..source.below(6)).map(|_| self.voice(source)).collect();
        let mut present = Vec::new();
        for member in &self.members {
            if source.percent(40) {
                present.push(presence(source, member.id, None));
            }
        }
        let mut features: Vec<String> =
            (0..source.below(9)).map(|_| format!(r#""{}""#, source.pick(FEATURES))).collect();
        features.sort_unstable();
        features.dedup();
        format!(
            concat!(
                r#"{{"features":[{features}],"premium_progress_bar_enabled":false,"emojis":[{emojis}],"#,
                r#""member_count":{count},"rules_channel_id":"{rules}","voice_states":[{voices}],"#,
                r#""large":{large},"vanity_url_code":null,"icon":"{icon}","stickers":[],"splash":null,"#,
                r#""system_channel_id":"{rules}","banner":null,"guild_scheduled_events":[],"#,
                r#""max_stage_video_channel_users":50,"id":"{id}","verification_level":1,"#,
                r#""max_members":25000000,"stage_instances":[],"safety_alerts_channel_id":null,"#,
                r#""name":"{name}","preferred_locale":"en-US","max_video_channel_users":25,"#,
                r#""premium_subscription_count":{boosts},"threads":[],"description":null,"mfa_level":0,"#,
                r#""system_channel_flags":0,"afk_timeout":300,"members":[{members}],"premium_tier":{tier},"#,
                r#""discovery_splash":null,"nsfw_level":0,"explicit_content_filter":2,"#,
                r#""public_updates_channel_id":"{rules}","afk_channel_id":null,"unavailable":false,"#,
                r#""channels":[{channels}],"lazy":true,"nsfw":false,"version":{version},"#,
                r#""owner_id":"{owner}","roles":[{roles}],"soundboard_sounds":[],"presences":[{present}],"#,
                r#""default_message_notifications":1,"joined_at":"{joined}","activity_instances":[],"#,
                r#""embedded_activities":[]}}"#
            ),
            features = features.join(","),
            emojis = emojis.join(","),
            count = self.members.len() * source.between(1, 40),
            rules = self.channels[0],
            voices = voices.join(","),
            large = self.members.len() > 50,
            icon = source.hex(),
            id = self.id,
            name = title(source, 1, 5),
            boosts = source.below(30),
            members = members.join(","),
            tier = source.below(4),
            channels = channels.join(","),
            version = source.now(),
            owner = self.members[0].id,
            roles = described.join(","),
            present = present.join(","),
            joined = source.past(),
        )
    }

    fn voice(&self, source: &mut Source) -> String {
        format!(
            concat!(
                r#"{{"user_id":"{user}","suppress":false,"session_id":"{session}","self_video":false,"#,
                r#""self_mute":{mute},"self_deaf":false,"request_to_speak_timestamp":null,"mute":false,"#,
                r#""deaf":false,"channel_id":"{channel}"}}"#
            ),
            user = self.members[source.below(self.members.len())].id,
            session = source.hex(),
            mute = source.percent(30),
            channel = source.pick(&self.channels),
        )
    }
}

fn role(source: &mut Source, position: usize, id: u64) -> String {
    let color = source.below(1 << 24);
    format!(
        concat!(
            r#"{{"version":{version},"unicode_emoji":null,"tags":{{}},"position":{position},"#,
            r#""permissions":"{permissions}","name":"{name}","mentionable":{mentionable},"#,
            r#""managed":{managed},"id":"{id}","icon":null,"hoist":{hoist},"flags":0,"#,
            r#""colors":{{"tertiary_color":null,"secondary_color":null,"primary_color":{color}}},"color":{color}}}"#
        ),
        version = source.now(),
        position = position,
        permissions =
            source.pick(&["0", "104324673", "1071698660929", "2248473465835073", "6755399441055744"]),
        name = title(source, 1, 4),
        mentionable = source.percent(30),
        managed = source.percent(10),
        id = id,
        hoist = source.percent(40),
        color = color,
    )
}

fn channel(source: &mut Source, position: usize, id: u64, roles: &[u64]) -> String {
    let rules: Vec<String> =
        (0..source.below(7.min(roles.len() + 1))).map(|_| overwrite(source, roles)).collect();
    format!(
        concat!(
            r#"{{"version":{version},"type":{kind},"topic":{topic},"theme_color":null,"#,
            r#""rate_limit_per_user":{rate},"position":{position},"permission_overwrites":[{rules}],"#,
            r#""parent_id":{parent},"nsfw":false,"name":"{name}","last_message_id":"{last}","id":"{id}","#,
            r#""icon_emoji":{{"name":"{icon}","id":null}},"flags":0}}"#
        ),
        version = source.now(),
        kind = source.pick(&[0, 0, 0, 2, 4, 5, 13]),
        topic = if source.percent(40) { format!(r#""{}""#, words(source, 3, 20)) } else { "null".into() },
        rate = source.pick(&[0, 0, 0, 5, 10]),
        position = position,
        rules = rules.join(","),
        parent = if source.percent(90) { format!(r#""{}""#, source.id()) } else { "null".into() },
        name = joined(source, 1, 4, "-"),
        last = source.id(),
        id = id,
        icon = source.pick(PICTURES),
    )
}

fn overwrite(source: &mut Source, roles: &[u64]) -> String {
    format!(
        r#"{{"type":0,"id":"{}","deny":"{}","allow":"{}"}}"#,
        source.pick(roles),
        source.pick(&["0", "1024", "2048", "1049600"]),
        source.pick(&["0", "1024", "68608", "377957190656"]),
    )
}

fn emoji(source: &mut Source) -> String {
    format!(
        concat!(
            r#"{{"version":0,"roles":[],"require_colons":true,"name":"{name}","managed":false,"id":"{id}","#,
            r#""available":true,"animated":{animated}}}"#
        ),
        name = joined(source, 2, 3, "_"),
        id = source.id(),
        animated = source.percent(30),
    )
}
